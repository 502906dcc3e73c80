"""Proofs that the log is whole, and what it says of the past."""

from contextlib import AbstractAsyncContextManager
from typing import Final

from aiohttp import web

from projections.audit.history.access_routes import routes as audit_access
from projections.audit.history.routes import routes as audit_history
from projections.audit.proofs.health import proofs_health
from projections.audit.proofs.log_check import LogCheck, run_log_check
from projections.audit.proofs.projector import MerkleTreeProjector
from projections.audit.proofs.queries import leaves_known
from projections.audit.proofs.routes import routes as audit_proofs
from projections.audit.proofs.signer import CheckpointSigner, run_signer
from projections.audit.trail.export import LEAVES
from projections.health.routes import HEALTH
from service.capabilities.declaration import Capability, Process

HOUR_S: Final = 3600


def _add_resources(app: web.Application, _process: Process) -> None:
    app[LEAVES] = leaves_known
    app[HEALTH].proofs = proofs_health


def _signer(process: Process) -> AbstractAsyncContextManager[CheckpointSigner]:
    resources = process.resources
    return run_signer(resources.log, resources.pool, process.config.data_dir)


def _log_check(process: Process) -> AbstractAsyncContextManager[LogCheck]:
    pass_s = process.config.log_check_hours * HOUR_S
    return run_log_check(process.resources.conninfo, pass_s=pass_s)


PROOFS = Capability(
    name="proofs",
    routes=(audit_history, audit_access, audit_proofs),
    projectors=(MerkleTreeProjector(),),
    app_resources=_add_resources,
    background={"followers": (_signer, _log_check)},
)
