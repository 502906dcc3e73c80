"""The audit trail: who changed what and when, with proofs."""

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from aiohttp import web

from projections.audit.history.access_routes import routes as audit_access
from projections.audit.history.routes import routes as audit_history
from projections.audit.proofs.config import ProofsConfig
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
from service.capabilities.declaration import AppTask, Capability, Process
from service.http.refusals import REFUSALS

HOUR_S: Final = 3600


def _add_resources(app: web.Application, process: Process) -> None:
    app[REFUSALS] = RefusalRecorder(process.resources.log)
    app[TEXT_READINGS] = TextReadings()


def _tasks(_app: web.Application, _process: Process) -> Sequence[AppTask]:
    return (recording_refusals,)


def _signer(process: Process) -> AbstractAsyncContextManager[CheckpointSigner]:
    resources = process.resources
    return run_signer(resources.log, resources.pool, process.config.data_dir)


def _log_check(process: Process) -> AbstractAsyncContextManager[LogCheck]:
    pass_s = process.config.log_check_hours * HOUR_S
    return run_log_check(process.resources.conninfo, pass_s=pass_s)


AUDIT = Capability(
    name="audit",
    aggregates=(AuditReading, EpochChange, Refusal, TextReading),
    routes=(audit_reads, audit_stream, audit_history, audit_access, audit_proofs),
    projectors=(AuditTrailProjector(), MerkleTreeProjector()),
    settings=(ProofsConfig,),
    app_resources=_add_resources,
    app_tasks=_tasks,
    background={"followers": (_signer, _log_check)},
)
