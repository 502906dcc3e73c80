"""Spans of instrumented agents, which become turns of sessions."""

from collections.abc import Sequence

from aiohttp import web

from service.capabilities.declaration import AppTask, Capability, Process
from service.sessions.otlp.ingest import Ingest
from service.sessions.otlp.routes import INGEST, deleting_old_traces
from service.sessions.otlp.routes import routes as trace_ingest


def _add_resources(app: web.Application, process: Process) -> None:
    resources = process.resources
    app[INGEST] = Ingest(resources.log, resources.pool, resources.vault)


def _tasks(_app: web.Application, _process: Process) -> Sequence[AppTask]:
    return (deleting_old_traces,)


OTLP = Capability(
    name="otlp",
    routes=(trace_ingest,),
    app_resources=_add_resources,
    app_tasks=_tasks,
)
