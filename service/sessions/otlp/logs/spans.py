"""Make spans of the log events of a request, each in the trace of its turn."""

from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from service.errors import ForbiddenError, InvalidRequestError
from service.pacing import computed
from service.principal import Principal
from service.sessions.otlp.ingest import Ingest
from service.sessions.otlp.logs.events import agent_events, resource_spans
from service.sessions.otlp.logs.prompts import in_turns


async def as_spans(
    export: ExportLogsServiceRequest, ingest: Ingest, principal: Principal
) -> tuple[ExportTraceServiceRequest, int]:
    """Return the events that concern turns as spans, and the number of other records.

    Of an agent that the caller may not report for, nothing is kept: its spans are
    refused as any others.
    """
    made = ExportTraceServiceRequest()
    others = 0
    for of_resource in export.resource_logs:
        records = sum(len(scope.log_records) for scope in of_resource.scope_logs)
        events = await computed(records, agent_events, of_resource)
        others += records - len(events)
        if not events:
            continue
        try:
            agent_id = await ingest.agent_of(of_resource.resource, principal)
        except (ForbiddenError, InvalidRequestError):
            events = [event.in_turn(event.trace_id) for event in events]
        else:
            events = await in_turns(ingest.pool, agent_id, events)
        spans = await computed(len(events), resource_spans, of_resource, events)
        made.resource_spans.append(spans)
    return made, others
