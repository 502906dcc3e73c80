"""Decisions about a topic's contents; no broker needed."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agent_runtime_client.kafka.errors import (
    ForeignTopicError,
    LogEpochChangedError,
    TopicCutError,
)
from projections.relay.kafka.errors import LogBehindTopicError
from projections.relay.kafka.settings import LogIdentity
from projections.relay.kafka.topic_state import (
    PartitionEnds,
    PositionRecord,
    Published,
    TopicContents,
    verify_topic,
)

LOG = LogIdentity(log_id="log", log_epoch="epoch", relay_id="relay")
RECORD = PositionRecord(
    log_id="log",
    log_epoch="epoch",
    relay_id="another relay",
    position=10,
    tails={0: 9, 1: 10},
    event_id="id of 10",
    at=datetime(2026, 1, 1, tzinfo=UTC),
)
EVENTS = [
    PartitionEnds(partition=0, start=0, end=7, tail=9),
    PartitionEnds(partition=1, start=0, end=8, tail=10),
    PartitionEnds(partition=2, start=0, end=0, tail=None),
]
NO_EVENTS = [PartitionEnds(partition=n, start=0, end=0, tail=None) for n in range(3)]
CONTENTS = TopicContents(record=RECORD, partitions=EVENTS)


def test_a_topic_as_the_last_relay_left_it() -> None:
    published = verify_topic(CONTENTS, LOG, remembered=10)
    assert published == Published(position=10, tails={0: 9, 1: 10}, event_id="id of 10")


def test_a_new_topic_starts_at_the_beginning() -> None:
    contents = TopicContents(record=None, partitions=NO_EVENTS)
    assert verify_topic(contents, LOG, remembered=0) == Published(position=0, tails={})


def test_a_topic_whose_first_transactions_were_aborted_is_still_new() -> None:
    aborted = [replace(ends, end=5) for ends in NO_EVENTS]
    contents = TopicContents(record=None, partitions=aborted)
    assert verify_topic(contents, LOG, remembered=0).position == 0


def test_events_beyond_the_position_are_kept_for_the_tail_guard() -> None:
    ahead = replace(CONTENTS, partitions=[replace(EVENTS[0], tail=12), *EVENTS[1:]])
    published = verify_topic(ahead, LOG, remembered=10)
    assert published == Published(
        position=10, tails={0: 12, 1: 10}, event_id="id of 10"
    )


def test_a_partition_emptied_by_retention_keeps_its_recorded_tail() -> None:
    expired = replace(EVENTS[0], start=7, tail=None)
    contents = replace(CONTENTS, partitions=[expired, *EVENTS[1:]])
    assert verify_topic(contents, LOG, remembered=10).tails == {0: 9, 1: 10}


@pytest.mark.parametrize(
    ("contents", "remembered"),
    [
        pytest.param(
            replace(CONTENTS, partitions=NO_EVENTS), 10, id="events recreated"
        ),
        pytest.param(replace(CONTENTS, record=None), 10, id="position recreated"),
        pytest.param(TopicContents(record=None, partitions=NO_EVENTS), 10, id="both"),
        pytest.param(
            replace(CONTENTS, partitions=[replace(EVENTS[0], tail=8), *EVENTS[1:]]),
            10,
            id="last event of a partition lost",
        ),
        pytest.param(CONTENTS, 11, id="last position lost"),
    ],
)
def test_a_topic_that_lost_records_is_refused(
    contents: TopicContents, remembered: int
) -> None:
    with pytest.raises(TopicCutError):
        verify_topic(contents, LOG, remembered=remembered)


def test_the_topic_of_another_log_is_refused() -> None:
    with pytest.raises(ForeignTopicError, match="belongs to log log"):
        verify_topic(CONTENTS, replace(LOG, log_id="other"), remembered=0)


def test_a_log_in_another_epoch_is_refused() -> None:
    with pytest.raises(LogEpochChangedError, match="epoch"):
        verify_topic(CONTENTS, replace(LOG, log_epoch="restored"), remembered=0)


def test_a_log_that_ends_before_its_topic_is_refused() -> None:
    published = Published(position=10, tails={0: 12})
    published.require_log_head(12)
    with pytest.raises(LogBehindTopicError, match="12"):
        published.require_log_head(11)


def test_a_position_record_reads_back_as_written() -> None:
    written = PositionRecord.now(LOG, 12, {0: 12, 1: 10})
    assert PositionRecord.parse(written.key, written.value) == written


@pytest.mark.parametrize("value", [None, b"", b"[]", b"7", b"{}", b'{"tails": 1}'])
def test_a_position_record_of_something_else_is_refused(value: bytes | None) -> None:
    with pytest.raises(ForeignTopicError):
        PositionRecord.parse(b"log", value)
