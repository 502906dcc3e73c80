"""Make spans of the log events of a request, each in the trace of its turn."""

from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)
from opentelemetry.proto.logs.v1.logs_pb2 import ResourceLogs

from service.errors import ForbiddenError, InvalidRequestError
from service.pacing import Pace, computed, free
from service.principal import Principal
from service.sessions.clocks import ahead_of_clock
from service.sessions.otlp.ingest import Ingest
from service.sessions.otlp.logs.events import (
    AgentEvent,
    add_spans,
    agent_events,
    in_own_turns,
)
from service.sessions.otlp.logs.further_turns import in_open_traces
from service.sessions.otlp.logs.known_events import where_they_went
from service.sessions.otlp.logs.prompts import in_turns

NAMELESS = "an event must name its session, or be inside of a trace"


@dataclass(slots=True)
class EventSpans:
    """The events of a request that concern turns, as spans.

    ``others`` is the number of records that don't, ``refused`` has a reason for each
    event that can't be taken.
    """

    export: ExportTraceServiceRequest
    others: int = 0
    refused: list[str] = field(default_factory=list)


async def as_spans(
    export: ExportLogsServiceRequest,
    ingest: Ingest,
    principal: Principal,
    now: datetime,
) -> EventSpans:
    """Return the events of a request as spans.

    Of an agent that the caller may not report for, nothing is kept: its spans are
    refused as any others.

    :raises TooManyRequestsError: an agent has too many open traces; nothing was kept
        of its events
    """
    made = EventSpans(ExportTraceServiceRequest())
    of_agent: defaultdict[UUID | None, list[tuple[ResourceLogs, list[AgentEvent]]]]
    of_agent = defaultdict(list)
    pace = Pace()
    for of_resource in export.resource_logs:
        await pace.pause()
        records = sum(len(scope.log_records) for scope in of_resource.scope_logs)
        events, refused = await computed(records, _taken, of_resource, now)
        made.others += records - len(events) - len(refused)
        made.refused += refused
        if not events:
            continue
        agent_id: UUID | None = None
        with suppress(ForbiddenError, InvalidRequestError):
            agent_id = await ingest.agent_of(of_resource.resource, principal)
        of_agent[agent_id].append((of_resource, events))
    for agent_id, resources in of_agent.items():
        events = [event for _, some in resources for event in some]
        placed = await _in_traces(events, agent_id, ingest)
        placed.reverse()
        pace = Pace()
        for of_resource, some in resources:
            own = [placed.pop() for _ in some]
            spans = made.export.resource_spans.add()
            await computed(len(own), add_spans, spans, of_resource, own)
            some.clear()
            own.clear()
            await pace.pause()
        await free(events)
    return made


async def _in_traces(
    events: Sequence[AgentEvent], agent_id: UUID | None, ingest: Ingest
) -> list[AgentEvent]:
    if agent_id is None:
        return await computed(len(events), in_own_turns, events)
    await ingest.check_room(agent_id)
    pool = ingest.pool
    in_turn = await in_turns(pool, agent_id, events)
    in_open = await in_open_traces(ingest.log, pool, agent_id, in_turn)
    return await where_they_went(pool, agent_id, in_open)


def _taken(
    of_resource: ResourceLogs, now: datetime
) -> tuple[list[AgentEvent], list[str]]:
    """Return a resource's events that can be taken, and why others can't."""
    taken, refused = [], []
    for event in agent_events(of_resource):
        problem = ahead_of_clock(event.time, now)
        if problem is not None:
            refused.append(f"an event {problem}")
        elif event.trace_id is None and not event.session_id:
            refused.append(NAMELESS)
        else:
            taken.append(event)
    return taken, refused
