"""The audit trail: who changed what and when, with proofs."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from aiohttp import web

from projections.audit.history.access_routes import routes as audit_access
from projections.audit.history.routes import routes as audit_history
from projections.audit.proofs.log_check import LogCheck, run_log_check
from projections.audit.proofs.projector import MerkleTreeProjector
from projections.audit.proofs.routes import routes as audit_proofs
from projections.audit.proofs.signer import CheckpointSigner, run_signer
from projections.audit.trail.live_routes import routes as audit_stream
from projections.audit.trail.projector import AuditTrailProjector
from projections.audit.trail.routes import routes as audit_reads
from service.audit.aggregate import AuditReading, EpochChange, Refusal, TextReading
from service.audit.refusal_recorder import RefusalRecorder, recording_refusals
from service.audit.text_readings import TEXT_READINGS, TextReadings
from service.capabilities.declaration import AppContext, AppTask, Capability
from service.config import Config
from service.http.refusals import REFUSALS
from service.resources import Resources

HOUR_S: Final = 3600


def _add_resources(app: web.Application, context: AppContext) -> None:
    app[REFUSALS] = RefusalRecorder(context.resources.log)
    app[TEXT_READINGS] = TextReadings()


def _tasks(_app: web.Application, _context: AppContext) -> Sequence[AppTask]:
    return (recording_refusals,)


def _signer(
    resources: Resources, config: Config
) -> AbstractAsyncContextManager[CheckpointSigner]:
    return run_signer(resources.log, resources.pool, config.data_dir)


def _log_check(
    resources: Resources, config: Config
) -> AbstractAsyncContextManager[LogCheck]:
    return run_log_check(resources.conninfo, pass_s=config.log_check_hours * HOUR_S)


AUDIT = Capability(
    name="audit",
    aggregates=(AuditReading, EpochChange, Refusal, TextReading),
    routes=(audit_reads, audit_stream, audit_history, audit_access, audit_proofs),
    projectors=(AuditTrailProjector(), MerkleTreeProjector()),
    app_resources=_add_resources,
    app_tasks=_tasks,
    follower_tasks=(_signer, _log_check),
)
