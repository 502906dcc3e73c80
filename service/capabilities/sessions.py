"""Sessions of agents and their turns, recorded and listed."""

from aiohttp import web

from projections.sessions.page_statements import HAS_TOOL_CALLS
from projections.sessions.projector import SessionsProjector
from projections.sessions.routes import routes as session_reads
from projections.sessions.trace_store import TRACES, Traces
from projections.sessions.turn_routes import routes as turn_reads
from service.capabilities.declaration import Capability, Process
from service.sessions.aggregate import ChatSession
from service.sessions.routes import routes as session_commands


def _add_resources(app: web.Application, process: Process) -> None:
    app[TRACES] = Traces(None, process.resources.waits.trace_store_s)
    app[HAS_TOOL_CALLS] = False


SESSIONS = Capability(
    name="sessions",
    aggregates=(ChatSession,),
    routes=(session_commands, session_reads, turn_reads),
    projectors=(SessionsProjector(),),
    foreign_tables=(
        "agent_manager",
        "tool_call_count",
    ),
    app_resources=_add_resources,
)
