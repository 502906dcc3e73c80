"""The audit trail: who changed what and when."""

from collections.abc import Sequence

from aiohttp import web

from projections.audit.trail.export import LEAVES, no_leaves
from projections.audit.trail.live_routes import routes as audit_stream
from projections.audit.trail.projector import AuditTrailProjector
from projections.audit.trail.routes import routes as audit_reads
from service.audit.aggregate import AuditReading, EpochChange, Refusal, TextReading
from service.audit.refusal_recorder import RefusalRecorder, recording_refusals
from service.audit.text_readings import TEXT_READINGS, TextReadings
from service.capabilities.declaration import AppTask, Capability, Process
from service.http.refusals import REFUSALS


def _add_resources(app: web.Application, process: Process) -> None:
    app[REFUSALS] = RefusalRecorder(process.resources.log)
    app[TEXT_READINGS] = TextReadings()
    app[LEAVES] = no_leaves


def _tasks(_app: web.Application, _process: Process) -> Sequence[AppTask]:
    return (recording_refusals,)


AUDIT = Capability(
    name="audit",
    aggregates=(AuditReading, EpochChange, Refusal, TextReading),
    routes=(audit_reads, audit_stream),
    projectors=(AuditTrailProjector(),),
    app_resources=_add_resources,
    app_tasks=_tasks,
)
