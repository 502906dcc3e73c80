"""The tool gateway: agents' tool calls are decided, recorded and forwarded."""

from collections.abc import Sequence
from functools import partial

from aiohttp import web

from projections.connectors.queries import connectors_to_observe
from projections.gateway.history import RecordedHistory
from projections.gateway.projector import GatewayProjector
from projections.gateway.queries import overdue_approvals
from projections.gateway.routes import routes as call_reads
from projections.sessions.page_statements import HAS_TOOL_CALLS
from service.agents.gateway_routes import routes as agent_gateway
from service.capabilities.declaration import AppTask, Capability, Process
from service.connectors.gateway_routes import routes as connector_gateway
from service.gateway.approvals.routes import routes as approval_commands
from service.gateway.definitions.routes import HIDDEN_CHARACTERS
from service.gateway.definitions.routes import routes as definition_commands
from service.gateway.endpoint.routes import routes as agent_endpoints
from service.gateway.gate import GATE
from service.gateway.health.routes import routes as connector_health
from service.gateway.health.table import CONNECTOR_HEALTH, HealthTable
from service.gateway.schemas.hidden import HiddenCharacters
from service.gateway.serving import serving_agents
from service.gateway.tool_gate import ToolGate
from service.gateway.tool_names import LatestToolNames
from service.keys.relayed import RelayedMessages
from service.tool_rules.call_history import CALL_HISTORY
from service.tool_rules.known_tools import TOOL_NAMES


def _add_resources(app: web.Application, process: Process) -> None:
    resources, config = process.resources, process.config
    hidden_characters = HiddenCharacters(config.gateway_hidden_characters)
    app[GATE] = ToolGate(
        resources.log,
        resources.key_ring,
        resources.vault,
        to_observe=partial(connectors_to_observe, resources.pool),
        overdue_approvals=partial(overdue_approvals, resources.pool),
        bounds=config.gateway_bounds,
        cache_bytes_max=resources.caches.tool_lists,
        hidden_characters=hidden_characters,
    )
    app[HIDDEN_CHARACTERS] = hidden_characters
    app[CONNECTOR_HEALTH] = HealthTable(resources.pool)
    app[CALL_HISTORY] = RecordedHistory(resources.log, resources.pool)
    app[TOOL_NAMES] = LatestToolNames(resources.log)
    app[HAS_TOOL_CALLS] = True


def _tasks(app: web.Application, process: Process) -> Sequence[AppTask]:
    gate = app[GATE]
    assert isinstance(gate, ToolGate)
    return (
        gate.running,
        serving_agents(
            process.resources.conninfo,
            process.resources.notifications,
            RelayedMessages(process.resources.key_ring),
            process.resources.key_ring.request_state_mac,
            process.config,
            process.traces,
            demo_port=process.demo_port,
        ),
    )


GATEWAY = Capability(
    name="gateway",
    routes=(
        agent_gateway,
        connector_gateway,
        definition_commands,
        connector_health,
        approval_commands,
        call_reads,
        agent_endpoints,
    ),
    projectors=(GatewayProjector(),),
    foreign_tables=(
        "agent_manager",
        "connector",
    ),
    app_resources=_add_resources,
    app_tasks=_tasks,
)
