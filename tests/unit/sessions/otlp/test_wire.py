"""Counting the fields of exports before they are decoded."""

from typing import Any

import pytest
from google.protobuf.message import DecodeError, Message
from hypothesis import given
from hypothesis import strategies as st
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from service.sessions.otlp import wire
from service.sessions.otlp.wire import has_more_fields
from tests.support.sessions.otlp.spans import export, llm, span

EXPORT = ExportTraceServiceRequest
BODIES = [
    export("agent"),
    export("agent", span(1, session__id="s", input__value="x" * 300), llm(2, 1, 5, 1)),
    export("agent", span(1, tags={"a": [1, 2.5, {"b": True}], "c": "d"})),
]


def fields(message: Message) -> int:
    found = 0
    for field, value in message.ListFields():
        each: Any
        for each in value if field.is_repeated else [value]:
            found += 1 + (fields(each) if isinstance(each, Message) else 0)
    return found


@pytest.fixture(autouse=True)
def counted_however_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "FIELD_BYTES_MIN", 0)


@pytest.mark.parametrize("body", BODIES, ids=["empty", "texts", "values"])
def test_fields_of_all_messages_are_counted(body: ExportTraceServiceRequest) -> None:
    count = fields(body)

    assert not has_more_fields(body.SerializeToString(), count, EXPORT)
    assert has_more_fields(body.SerializeToString(), count - 1, EXPORT)


@given(st.binary(), st.integers(0, 5))
def test_any_bytes_are_counted(body: bytes, fields_max: int) -> None:
    more = has_more_fields(body, fields_max, EXPORT)

    try:
        decoded = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        return
    # Decoding keeps the last value of a field that isn't repeated.
    assert more or fields(decoded) <= fields_max
