"""Spans of the tests, and sending them."""

import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span, Status

from tests.support.callers import Caller
from tests.support.sessions.recording import Recorder

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
TRACES = "/v1/traces"
# The wire type of a field with a length.
BYTES_FIELD = 2
PROTOBUF = "application/x-protobuf"
IS_REMOTE = 0x300


def nano(seconds: float) -> int:
    """Return a moment so many seconds after the tests' noon."""
    return int(NOON.timestamp()) * 10**9 + round(seconds * 10**9)


def value(given: Any) -> AnyValue:
    if isinstance(given, bool):
        return AnyValue(bool_value=given)
    if isinstance(given, int):
        return AnyValue(int_value=given)
    if isinstance(given, float):
        return AnyValue(double_value=given)
    if isinstance(given, list):
        found = AnyValue()
        found.array_value.values.extend(map(value, given))
        return found
    if isinstance(given, dict):
        found = AnyValue()
        found.kvlist_value.values.extend(pairs(given))
        return found
    return AnyValue(string_value=given)


def pairs(given: dict[str, Any]) -> list[KeyValue]:
    return [KeyValue(key=key, value=value(each)) for key, each in given.items()]


def span(
    number: int,
    parent: int | None = None,
    *,
    trace: int = 1,
    start: float = 0,
    took: float = 1,
    error: str | None = None,
    flags: int = 0,
    **attributes: Any,
) -> Span:
    """Return a span; ``session__id="s"`` becomes the attribute ``session.id``."""
    return Span(
        trace_id=trace.to_bytes(16),
        span_id=number.to_bytes(8),
        parent_span_id=b"" if parent is None else parent.to_bytes(8),
        name=f"span {number}",
        flags=flags,
        start_time_unix_nano=nano(start),
        end_time_unix_nano=nano(start + took),
        attributes=pairs(
            {name.replace("__", "."): given for name, given in attributes.items()}
        ),
        status=Status(
            code=Status.STATUS_CODE_UNSET
            if error is None
            else Status.STATUS_CODE_ERROR,
            message=error or "",
        ),
    )


def llm(
    number: int, parent: int | None, prompt: int, completion: int, **words: Any
) -> Span:
    """Return a call of a model, as OpenInference writes it."""
    given = {
        "openinference.span.kind": "LLM",
        "llm.provider": "acme",
        "llm.model_name": "swift",
        "llm.token_count.prompt": prompt,
        "llm.token_count.completion": completion,
    }
    known = span(number, parent, **words)
    have = {each.key for each in known.attributes}
    known.attributes.extend(
        pairs({key: each for key, each in given.items() if key not in have})
    )
    return known


def export(
    agent_id: str | None, *spans: Span, attribute: str = "agent_runtime.agent_id"
) -> ExportTraceServiceRequest:
    request = ExportTraceServiceRequest()
    resource = request.resource_spans.add()
    if agent_id is not None:
        resource.resource.attributes.extend(pairs({attribute: agent_id}))
    resource.scope_spans.add().spans.extend(spans)
    return request


@dataclass(frozen=True, slots=True)
class Exported:
    """An answer of OTLP, in protobuf."""

    status: int
    body: bytes
    headers: Any

    @property
    def rejected(self) -> int:
        return int(self._response.partial_success.rejected_spans)

    @property
    def reason(self) -> str:
        return str(self._response.partial_success.error_message)

    @property
    def position(self) -> str:
        return str(self.headers["X-Event-Position"])

    @property
    def _response(self) -> ExportTraceServiceResponse:
        assert self.status == 200
        return ExportTraceServiceResponse.FromString(self.body)


async def send(
    caller: Caller,
    body: ExportTraceServiceRequest | bytes,
    *,
    to: str = TRACES,
    **headers: str,
) -> Exported:
    """Send an exporter's request; ``Content_Encoding="gzip"`` compresses it."""
    raw = body if isinstance(body, bytes) else body.SerializeToString()
    sent = {"Content-Type": PROTOBUF}
    if caller.token is not None:
        sent["Authorization"] = f"Bearer {caller.token}"
    sent |= {name.replace("_", "-"): each for name, each in headers.items()}
    if sent.get("Content-Encoding") == "gzip":
        raw = gzip.compress(raw)
    response = await caller.client.post(to, data=raw, headers=sent)
    return Exported(response.status, await response.read(), response.headers)


async def report(recorder: Recorder, *spans: Span) -> Exported:
    """Send spans of the recorder's agent."""
    return await send(recorder.caller, export(recorder.agent_id, *spans))


async def session(caller: Caller, session_id: str, at: Sequence[Exported]) -> Any:
    """Return a session as it is after some exports."""
    positions = [
        int(each.position) for each in at if "X-Event-Position" in each.headers
    ]
    reply = await caller.get(
        f"/api/observability/session/{session_id}", X_Min_Position=str(max(positions))
    )
    assert reply.status == 200, reply.data
    return reply.data


def empty_messages(count: int, *nesting: int) -> bytes:
    """Return a request of empty messages; ``nesting`` are the numbers of their fields.

    ``1`` makes resources, ``1, 2, 2`` spans of one resource and scope.
    """
    *outer, last = nesting
    body = bytes([last << 3 | BYTES_FIELD, 0]) * count
    for number in reversed(outer):
        body = bytes([number << 3 | BYTES_FIELD]) + _varint(len(body)) + body
    return body


def _varint(number: int) -> bytes:
    octets = bytearray()
    while number > 0x7F:
        octets.append(number & 0x7F | 0x80)
        number >>= 7
    octets.append(number)
    return bytes(octets)
