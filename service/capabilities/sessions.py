"""Sessions of agents and their turns, recorded and listed."""

from collections.abc import Sequence

from aiohttp import web

from projections.sessions.phoenix.config import TraceStoreConfig
from projections.sessions.projector import SessionsProjector
from projections.sessions.routes import routes as session_reads
from projections.sessions.trace_store import TRACES, Traces
from projections.sessions.turn_routes import routes as turn_reads
from service.capabilities.declaration import AppTask, Capability, Process
from service.sessions.aggregate import ChatSession
from service.sessions.otlp.ingest import Ingest
from service.sessions.otlp.routes import INGEST, deleting_old_traces
from service.sessions.otlp.routes import routes as trace_ingest
from service.sessions.routes import routes as session_commands


def _add_resources(app: web.Application, process: Process) -> None:
    resources = process.resources
    app[TRACES] = Traces(process.phoenix, resources.waits.trace_store_s)
    app[INGEST] = Ingest(resources.log, resources.pool, resources.vault)


def _tasks(_app: web.Application, _process: Process) -> Sequence[AppTask]:
    return (deleting_old_traces,)


SESSIONS = Capability(
    name="sessions",
    aggregates=(ChatSession,),
    routes=(session_commands, trace_ingest, session_reads, turn_reads),
    projectors=(SessionsProjector(),),
    foreign_tables=(
        "agent_manager",
        "tool_call_count",
    ),
    settings=(TraceStoreConfig,),
    app_resources=_add_resources,
    app_tasks=_tasks,
)
