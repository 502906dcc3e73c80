"""What is published of an event, and what never is."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4, uuid5

import orjson
import pytest
from jsonschema import Draft202012Validator

from projections.event_contract import PUBLIC_EVENTS
from projections.relay.asyncapi import HEADERS, OPTIONAL_HEADERS
from projections.relay.messages import DATA_BYTES_MAX, MessageBuilder, NotPublicError
from projections.relay.public_event import PublicEvent
from projections.relay.schemas import event_schema
from service.aggregate import event_types
from service.aggregates import AGGREGATES
from service.event_log.mapper import RecordedEvent
from service.events import fields_of

LOG_ID, EPOCH = uuid4(), uuid4()
AGGREGATE_ID = UUID("00000000-0000-4000-8000-00000000000a")
COMMAND_ID = UUID("00000000-0000-4000-8000-00000000000c")
NEVER = {"sealed", "fingerprint", "token", "hash", "address", "password"}


def recorded(topic: str, data: dict[str, Any], **metadata: str) -> RecordedEvent:
    kind = PUBLIC_EVENTS[topic].event
    event = object.__new__(kind)
    event.__dict__.update(data, originator_id=AGGREGATE_ID, originator_version=3)
    return RecordedEvent(
        position=42,
        recorded_at=datetime(2026, 1, 2, 3, 4, 5, 60000, UTC),
        topic=topic,
        event=event,
        metadata={"actor": "system", **metadata},
        command_id=COMMAND_ID,
    )


def headers_of(event: RecordedEvent) -> dict[str, str]:
    message = MessageBuilder(LOG_ID, EPOCH, PUBLIC_EVENTS).build(event)
    return {name: value.decode() for name, value in message.headers}


def test_every_event_of_every_aggregate_is_published() -> None:
    topics = {topic for kind in AGGREGATES for topic, _ in event_types(kind)}
    assert PUBLIC_EVENTS.keys() == topics


def test_a_field_that_nobody_declared_published_is_withheld() -> None:
    secret = PUBLIC_EVENTS["secret.created"]
    assert secret.fields == ("owner_id", "name")
    assert {"sealed_id", "fingerprint"} <= {*fields_of(secret.event)}


@pytest.mark.parametrize("entry", PUBLIC_EVENTS.values(), ids=lambda each: each.name)
def test_nothing_that_is_published_sounds_secret(entry: PublicEvent) -> None:
    suspicious = {
        name
        for name in names_in(event_schema(entry))
        for word in NEVER
        if word in name and not name.endswith("_tokens")
    }
    # The digest of a price list, which is no secret.
    assert suspicious <= {"sha256"}


def names_in(schema: dict[str, Any]) -> Iterator[str]:
    for name, described in schema.get("properties", {}).items():
        yield name
        yield from names_in(described)


def test_an_event_becomes_a_cloud_event() -> None:
    traceparent = f"00-{'a' * 32}-{'b' * 16}-01"
    event = recorded(
        "connector.made_public",
        {"by": "u", "since": "s"},
        actor="u",
        token="t-hash",
        address="192.0.2.7",
        traceparent=traceparent,
    )
    message = MessageBuilder(LOG_ID, EPOCH, PUBLIC_EVENTS).build(event)
    assert (message.position, message.key) == (42, str(AGGREGATE_ID).encode())
    assert orjson.loads(message.value or b"") == {"by": "u", "since": "s"}
    assert headers_of(event) == {
        "ce_specversion": "1.0",
        "ce_type": "internal.agent-runtime.connector.made_public.v1",
        "ce_source": f"/agent-runtime/{LOG_ID}",
        "ce_logepoch": str(EPOCH),
        "ce_id": str(uuid5(AGGREGATE_ID, f"3 {COMMAND_ID}")),
        "ce_time": "2026-01-02T03:04:05.060000Z",
        "ce_subject": str(AGGREGATE_ID),
        "ce_partitionkey": str(AGGREGATE_ID),
        "ce_aggregateversion": "3",
        "ce_actor": "u",
        "ce_traceparent": traceparent,
        "content-type": "application/json",
    }


def test_events_recorded_in_each_others_place_have_different_ids() -> None:
    lost = recorded("connector.made_public", {"by": "u", "since": "s"})
    after_restore = replace(lost, command_id=UUID(int=8))
    again = replace(lost, position=99)
    assert headers_of(lost)["ce_id"] != headers_of(after_restore)["ce_id"]
    assert headers_of(lost)["ce_id"] == headers_of(again)["ce_id"]


def test_withheld_fields_stay_here() -> None:
    event = recorded(
        "secret.overwritten",
        {"version": 2, "sealed_id": "sealed-1", "fingerprint": "print-1"},
    )
    assert (
        MessageBuilder(LOG_ID, EPOCH, PUBLIC_EVENTS).build(event).value
        == b'{"version":2}'
    )


def test_a_token_is_told_apart_without_being_named() -> None:
    issued = recorded(
        "token.issued", {"user_id": "u", "label": "l", "expires_at": None}
    )
    revoked = recorded("token.revoked", {})
    texts = str(MessageBuilder(LOG_ID, EPOCH, PUBLIC_EVENTS).build(issued))
    assert str(AGGREGATE_ID) not in texts
    assert headers_of(issued)["ce_subject"] == headers_of(revoked)["ce_subject"]
    assert headers_of(issued)["ce_id"] != str(uuid5(AGGREGATE_ID, f"3 {COMMAND_ID}"))


def test_an_event_that_nobody_has_decided_on_is_refused() -> None:
    messages = MessageBuilder(LOG_ID, EPOCH, public={})
    with pytest.raises(NotPublicError, match=r"'agent.registered' at position 42"):
        messages.build(recorded("agent.registered", {}))


@pytest.mark.parametrize("too_much", [0, 1])
def test_data_beyond_the_bound_is_referred_to(too_much: int) -> None:
    frame = len(b'{"price_version":1,"notes":""}')
    notes = "x" * (DATA_BYTES_MAX - frame + too_much)
    event = recorded(
        "model_pricing.price_annotated", {"price_version": 1, "notes": notes}
    )
    message = MessageBuilder(LOG_ID, EPOCH, PUBLIC_EVENTS).build(event)
    headers = headers_of(event)
    assert (message.value is None) == bool(too_much)
    assert ("content-type" in headers) != bool(too_much)
    assert headers.get("ce_dataref") == ("/api/audit/events/42" if too_much else None)


def test_headers_are_as_the_document_says() -> None:
    event = recorded("user.role_granted", {"role": "auditor"})
    headers = {**headers_of(event), "ce_sequence": "0" * 18 + "42"}
    schema = {
        "required": [name for name in HEADERS if name not in OPTIONAL_HEADERS],
        "properties": HEADERS,
        "additionalProperties": False,
    }
    checker = Draft202012Validator.FORMAT_CHECKER
    Draft202012Validator(schema, format_checker=checker).validate(headers)


@pytest.mark.parametrize("name", [name for name in HEADERS if name.startswith("ce_")])
def test_attribute_names_are_ones_that_cloud_events_allows(name: str) -> None:
    attribute = name.removeprefix("ce_")
    assert attribute.isalnum()
    assert attribute.islower()
    assert len(attribute) <= 20
