"""The library's own tests of a transcoder, and what the mapper keeps out."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from unittest import skip
from uuid import uuid4

import orjson
import pytest
from eventsourcing.persistence import JSONTranscoder, StoredEvent, Transcoding

from service.event_log.mapper import EventMapper, UnknownTopicError
from service.event_log.transcoder import LookalikeAsPairs, OrjsonTranscoder
from tests.support.event_log.conformance import persistence
from tests.support.event_log.ledger import Ledger

SUBCLASSES: list[tuple[type[Any], type[Any]]] = [
    (persistence.Mydict, dict),
    (persistence.MyList, list),
    (persistence.MyStr, str),
    (persistence.MyInt, int),
]
NO_TUPLES = "events carry lists; test_golden_events refuses a tuple in an annotation"


def subclass_transcoding(kind: type[Any], plain: type[Any]) -> Transcoding:
    class SubclassAsPlain(Transcoding):
        type = kind
        name = kind.__name__.lower()

        def encode(self, obj: Any) -> Any:
            return plain(obj)

        def decode(self, data: Any) -> Any:
            return kind(data)

    return SubclassAsPlain()


class TestOrjsonTranscoder(persistence.TranscoderTestCase):
    def construct_transcoder(self) -> OrjsonTranscoder:
        transcoder = OrjsonTranscoder()
        transcoder.register(persistence.CustomType1AsDict())
        transcoder.register(persistence.CustomType2AsDict())
        for kind, plain in SUBCLASSES:
            transcoder.register(subclass_transcoding(kind, plain))
        return transcoder

    @skip(NO_TUPLES)
    def test_tuple(self) -> None: ...

    @skip(NO_TUPLES)
    def test_list_subclass(self) -> None: ...

    @skip(NO_TUPLES)
    def test_mixed(self) -> None: ...


VALUES = [
    {"timestamp": datetime(2026, 3, 1, 12, 0, 0, 123456, tzinfo=UTC), "name": "ann"},
    {"timestamp": "plain", "at": datetime(2026, 3, 1, tzinfo=UTC)},
    {"price": Decimal("0.10")},
    {"_type_": "datetime_iso"},
    {"_type_": "datetime_iso", "_data_": "no time at all"},
    {"args": {"_type_": 3, "_data_": [{"_type_": "", "_data_": None}]}},
    {"text": '{"_type_":"uuid_hex","_data_":"zz"}'},
]


@pytest.mark.parametrize("value", VALUES)
def test_what_is_written_is_read_back(value: Any) -> None:
    transcoder = OrjsonTranscoder()

    assert transcoder.decode(transcoder.encode(value)) == value


@pytest.mark.parametrize("value", VALUES)
def test_the_librarys_transcoder_reads_what_ours_writes(value: Any) -> None:
    ours = OrjsonTranscoder()
    library = JSONTranscoder()
    for transcoding in ours._library.names.values():  # noqa: SLF001 # the library's own list of transcodings
        library.register(transcoding)

    assert library.decode(ours.encode(value)) == value


def test_an_object_that_looks_like_a_tag_is_stored_as_pairs() -> None:
    data = OrjsonTranscoder().encode({"x": {"_type_": "a", "_data_": "b"}})

    assert orjson.loads(data) == {
        "x": {
            "_type_": LookalikeAsPairs.name,
            "_data_": [["_type_", "a"], ["_data_", "b"]],
        }
    }


@pytest.mark.parametrize("topic", ["os:system", "test.ledger", "no.such"])
def test_a_topic_outside_the_list_is_refused_and_imports_nothing(topic: str) -> None:
    stored = StoredEvent(uuid4(), 1, topic, b"{}")

    with pytest.raises(UnknownTopicError):
        EventMapper([Ledger]).to_domain_event(stored)


def test_an_event_of_a_newer_version_is_not_taken_for_one_we_know() -> None:
    stored = StoredEvent(
        uuid4(), 2, "test.ledger_entered", b'{"note":"x","class_version":2}'
    )

    with pytest.raises(UnknownTopicError, match="has version 2"):
        EventMapper([Ledger]).to_domain_event(stored)


def test_an_event_of_a_version_without_an_upcast_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Ledger.Entered, "class_version", 2, raising=False)
    stored = StoredEvent(uuid4(), 2, "test.ledger_entered", b'{"note":"x"}')

    with pytest.raises(UnknownTopicError, match=r"version 1, which .* can't upcast"):
        EventMapper([Ledger]).to_domain_event(stored)
