"""Read log records as events of agent programs, and make spans of them."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Final

from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord, ResourceLogs
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, Span, Status

from service.sessions.otlp.attributes import (
    Attributes,
    attributes,
    first_count,
    first_id,
    first_text,
)
from service.sessions.otlp.conventions import (
    PARENT_IS_REMOTE,
    SPAN_ID_BYTES,
    TRACE_ID_BYTES,
)
from service.sessions.otlp.logs.programs import (
    PROVIDER,
    REDACTED,
    AgentProgram,
    Role,
    program_of,
)

UNSET: Final = Status.STATUS_CODE_UNSET
FAILED: Final = Status.STATUS_CODE_ERROR
DURATION: Final = "duration_ms"
DURATION_MS_MAX: Final = 86_400_000
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent:
    """An event that concerns a turn, with what decides to which turn it belongs.

    ``trace_id`` is that of its turn, None if only its session tells; ``at`` is in
    nanoseconds since 1970. ``session_id`` is empty if the event names none. ``digest``
    is the same each time that the event is sent. ``in_trace``: the program tells spans
    of its trace, too, or another one does.
    """

    program: AgentProgram
    role: Role
    record: LogRecord = field(repr=False)
    found: Attributes = field(repr=False)
    session_id: str
    trace_id: bytes | None
    at: int
    digest: bytes
    in_trace: bool

    @property
    def time(self) -> datetime:
        return _EPOCH + timedelta(microseconds=self.at // 1000)

    @property
    def session(self) -> bytes:
        """A digest of the session's id, which may be long."""
        return _hash(TRACE_ID_BYTES, self.session_id.encode())

    def in_turn(self, trace_id: bytes | None) -> "AgentEvent":
        """Return the event in a trace; without one, in a turn of its own."""
        return replace(self, trace_id=trace_id or self.digest)

    def span(self) -> Span:
        """Return the event as a span, with which its turn can begin.

        A prompt is the root, unless the event is inside of a span. If there is none,
        the turn begins with a model call.
        """
        assert self.trace_id is not None
        start = self.at
        around = self.record.span_id
        parent = around if len(around) == SPAN_ID_BYTES and any(around) else b""
        if self.role != "prompt":
            parent = parent or _hash(SPAN_ID_BYTES, self.trace_id)
        if self.role == "call":
            took = min(first_count(self.found, DURATION) or 0, DURATION_MS_MAX)
            start -= min(took * 1_000_000, start)
        return Span(
            trace_id=self.trace_id,
            span_id=self.digest[-SPAN_ID_BYTES:],
            parent_span_id=parent,
            flags=0 if self.role == "answer" else PARENT_IS_REMOTE,
            start_time_unix_nano=start,
            end_time_unix_nano=self.at,
            attributes=list(self._attributes()),
            status=Status(code=FAILED if self.role == "failure" else UNSET),
        )

    def _attributes(self) -> Iterator[KeyValue]:
        for pair in self.record.attributes:
            if pair.value.string_value not in REDACTED:
                yield pair
        provider = KeyValue(key=PROVIDER)
        provider.value.string_value = self.program.provider_of(self.found)
        yield provider


def agent_events(of_resource: ResourceLogs) -> Iterator[AgentEvent]:
    """Yield those records of a resource that concern turns."""
    for scope in of_resource.scope_logs:
        for record in scope.log_records:
            event = _agent_event(record)
            if event is not None:
                yield event


def in_own_turns(events: Iterable[AgentEvent]) -> list[AgentEvent]:
    """Return events in the traces that they name, others in turns of their own."""
    return [event.in_turn(event.trace_id) for event in events]


def add_spans(
    made: ResourceSpans, of_resource: ResourceLogs, events: Iterable[AgentEvent]
) -> None:
    """Add the events of a resource, each in its trace, as its spans."""
    made.resource.CopyFrom(of_resource.resource)
    of_scope = {}
    for event in events:
        name = event.program.scope
        if name not in of_scope:
            of_scope[name] = made.scope_spans.add()
            of_scope[name].scope.name = name
        of_scope[name].spans.append(event.span())


def _agent_event(record: LogRecord) -> AgentEvent | None:
    found = attributes(record.attributes)
    name = first_text(found, "event.name") or ""
    # Claude Code's attribute lacks the program, its body has it.
    program = program_of(name) or program_of(name := record.body.string_value)
    if program is None:
        return None
    role = program.role_of(name, found)
    if role is None:
        return None
    session_id = first_id(found, program.session) or ""
    in_trace = len(record.trace_id) == TRACE_ID_BYTES and any(record.trace_id)
    return AgentEvent(
        program=program,
        role=role,
        record=record,
        found=found,
        session_id=session_id,
        trace_id=(
            record.trace_id if in_trace else _trace_id(found, program, session_id)
        ),
        at=record.time_unix_nano or record.observed_time_unix_nano,
        digest=_hash(
            TRACE_ID_BYTES,
            program.scope.encode(),
            record.SerializeToString(deterministic=True),
        ),
        in_trace=in_trace,
    )


def further_turn(trace_id: bytes) -> bytes:
    """Return the trace of events for which their own takes no more."""
    return _hash(TRACE_ID_BYTES, b"further", trace_id)


def _trace_id(
    found: Attributes, program: AgentProgram, session_id: str
) -> bytes | None:
    turn = first_text(found, program.turn) if program.turn else None
    if turn is None or not session_id:
        return None
    return _hash(TRACE_ID_BYTES, *map(str.encode, (program.scope, session_id, turn)))


def _hash(size: int, *parts: bytes) -> bytes:
    return hashlib.sha256(b"\0".join(parts)).digest()[:size]
