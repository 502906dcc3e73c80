"""Ingest spans and record them as turns.

Spans are first merged into the stored spans of their traces, in one statement; then
each trace is read as a whole. Whatever the order of requests, the last one of a trace
sees all of it. After a crash the exporter, which got no answer, sends its spans again.
"""

import asyncio
import gc
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final
from uuid import UUID

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from service.agents.aggregate import Agent
from service.database import Pool
from service.errors import (
    ForbiddenError,
    InvalidRequestError,
    TooManyRequestsError,
)
from service.event_log.absences import RememberedAbsences
from service.event_log.log import EventLog
from service.keys.vault import Vault
from service.pacing import Pace, computed
from service.principal import Principal
from service.sessions.aggregate import ChatSession
from service.sessions.otlp.attributes import attributes, first_text
from service.sessions.otlp.body import BODY_BYTES_MAX
from service.sessions.otlp.conventions import SpanError, reported_spans
from service.sessions.otlp.full_traces import take_roots
from service.sessions.otlp.kept_traces import kept_traces
from service.sessions.otlp.outcome import IngestOutcome
from service.sessions.otlp.pending import (
    TRACES_OF_AGENT_MAX,
    KeptTrace,
    TraceKey,
    has_room,
    merge_spans,
)
from service.sessions.otlp.recording import Recording, record_trace_turns
from service.sessions.otlp.span import ReportedSpan
from service.sessions.otlp.statements import SPAN_BYTES
from service.sessions.otlp.trace import TraceTurn, turn_of
from service.sessions.policy import records_for_anyone
from service.waits import holding

AGENT: Final = ("agent_runtime.agent_id", "gen_ai.agent.id")
# Request bodies in memory at once, in this process.
REQUESTS_MAX: Final = 8
# Of a request that is ingested while no other such one is. Decoded, a body takes many
# times its size.
LARGE_BYTES_MIN: Final = BODY_BYTES_MAX // REQUESTS_MAX
LARGE_ITEMS_MIN: Final = 1_000
TRACE_COUNT_TTL_S: Final = 30.0
AGENTS_MAX: Final = 10_000


@dataclass(slots=True)
class Ingest:
    """Handles requests of exporters; holds their shared resources."""

    log: EventLog
    pool: Pool
    vault: Vault
    at_once: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(REQUESTS_MAX)
    )
    large: asyncio.Lock = field(default_factory=asyncio.Lock)
    _has_room_until: dict[UUID, float] = field(default_factory=dict)

    @asynccontextmanager
    async def alone(self, wait_s: float) -> AsyncIterator[None]:
        """Ingest a large request in the block, and no other such one meanwhile.

        No garbage is collected either: it would be looked for among tens of thousands
        of the request's objects, which have no cycles and are soon freed, and the event
        loop would be held for up to 50 ms each time.

        :raises UnavailableError: those before it took too long
        """
        async with holding(self.large, wait_s, "the large uploads before this one"):
            gc.disable()
            try:
                yield
            finally:
                gc.enable()

    async def take(
        self, export: ExportTraceServiceRequest, size: int, recording: Recording
    ) -> IngestOutcome:
        """Ingest the valid spans of an exporter's request of ``size`` bytes.

        :raises TooManyRequestsError: an agent has too many open traces; no span was
            accepted
        :raises UnavailableError: retry; repeating the request is harmless
        """
        outcome = IngestOutcome()
        reported: defaultdict[TraceKey, dict[str, ReportedSpan]] = defaultdict(dict)
        pace = Pace()
        for resource_spans in export.resource_spans:
            await pace.pause()
            await self._reduce(
                resource_spans, size, recording.principal, reported, outcome
            )
        spans = sum(map(len, reported.values()))
        agents, sessions = await computed(spans, _named, reported)
        for agent_id in agents:
            await self.check_room(agent_id)
        absent = await self.log.absent(sessions)
        recording.log = RememberedAbsences(self.log, absent)
        kept = await kept_traces(reported, recording)
        sent = await computed(len(kept), _counts, kept)
        turns = await _turns(merge_spans(self.pool, kept), kept)
        if refused := dict(kept):
            turns |= await _turns(take_roots(self.pool, refused, sent, outcome), kept)
        rejected = await record_trace_turns(turns, recording)
        for key, error in rejected.items():
            forbidden = isinstance(error, ForbiddenError)
            outcome.reject(sent[key], error.message, forbidden=forbidden)
        return outcome

    async def _reduce(
        self,
        resource_spans: ResourceSpans,
        size: int,
        principal: Principal,
        reported: defaultdict[TraceKey, dict[str, ReportedSpan]],
        outcome: IngestOutcome,
    ) -> None:
        """Add a resource's spans to ``reported``."""
        count = sum(len(scope.spans) for scope in resource_spans.scope_spans)
        outcome.spans += count
        try:
            agent_id = await self.agent_of(resource_spans.resource, principal)
        except (ForbiddenError, InvalidRequestError) as error:
            forbidden = isinstance(error, ForbiddenError)
            outcome.reject(count, error.message, forbidden=forbidden)
            return
        pace = Pace()
        # To ask for a resource's own size would encode it: any may be most of it all.
        spans = await computed(size // SPAN_BYTES, reported_spans, resource_spans)
        spans.reverse()
        # Each is freed in its turn: all at once would hold the event loop for long.
        while spans:
            await pace.pause()
            found = spans.pop()
            if isinstance(found, SpanError):
                outcome.reject(1, str(found))
                continue
            if found.is_relevant:
                of_trace = reported[TraceKey(agent_id, found.trace_id)]
                of_trace.setdefault(found.span_id, found)
            else:
                outcome.ignored += 1

    async def agent_of(self, resource: Resource, principal: Principal) -> UUID:
        """Return the agent that a resource names.

        :raises InvalidRequestError: it names none
        :raises ForbiddenError: the caller may not record its sessions
        """
        pairs = resource.attributes
        text = await computed(len(pairs), _agent_text, pairs)
        try:
            agent_id = UUID(text or "")
        except ValueError:
            raise InvalidRequestError(
                f"the resource must have the attribute {AGENT[0]}, an agent id"
            ) from None
        agent = await self.log.load(agent_id)
        is_agent = isinstance(agent, Agent)
        if records_for_anyone(principal):
            if not is_agent:
                raise InvalidRequestError("no such agent")
        elif not (isinstance(agent, Agent) and agent.is_managed_by(principal.user_id)):
            raise ForbiddenError("only a manager of the agent may record its sessions")
        return agent_id

    async def check_room(self, agent_id: UUID) -> None:
        """Raise TooManyRequestsError if an agent may begin no more traces."""
        now = time.monotonic()
        if self._has_room_until.get(agent_id, 0.0) > now:
            return
        if not await has_room(self.pool, agent_id):
            raise TooManyRequestsError(
                f"the agent has {TRACES_OF_AGENT_MAX} open traces, the maximum",
                code="too_many_traces",
                headers={"Retry-After": str(int(TRACE_COUNT_TTL_S))},
            )
        if len(self._has_room_until) >= AGENTS_MAX:
            self._has_room_until.clear()
        self._has_room_until[agent_id] = now + TRACE_COUNT_TTL_S


async def _turns(
    merged: AsyncIterator[dict[TraceKey, KeptTrace]], kept: dict[TraceKey, KeptTrace]
) -> dict[TraceKey, TraceTurn]:
    """Return the turns of traces, and take what was merged out of ``kept``."""
    turns = {}
    pace = Pace()
    async for traces in merged:
        for key in list(traces):
            trace = traces.pop(key)
            del kept[key]
            turn = await computed(
                len(trace.spans),
                turn_of,
                key.trace_id,
                trace.spans,
                trace.texts,
                trace.session_id,
            )
            if turn is not None:
                turns[key] = replace(turn, kept_since=trace.kept_since)
            await pace.pause()
    return turns


def _named(
    reported: Mapping[TraceKey, Mapping[str, ReportedSpan]],
) -> tuple[set[UUID], set[UUID]]:
    """Return the agents and the sessions that spans name."""
    agents = {key.agent_id for key in reported}
    names = {span.session_id for each in reported.values() for span in each.values()}
    return agents, {ChatSession.create_id(name) for name in names if name is not None}


def _counts(kept: Mapping[TraceKey, KeptTrace]) -> dict[TraceKey, int]:
    return {key: len(trace.spans) for key, trace in kept.items()}


def _agent_text(pairs: Iterable[KeyValue]) -> str | None:
    return first_text(attributes(pairs), *AGENT)
