"""Connections to servers of models, and how agents' model calls are routed."""

from collections.abc import Sequence

from aiohttp import web

from projections.model_gateway.calls.projector import ModelCallsProjector
from projections.model_gateway.calls.routes import routes as call_reads
from projections.model_gateway.previewing import ReadRecordedModels, ReadRoutedAgents
from projections.model_gateway.projector import ModelGatewayProjector
from projections.model_gateway.routes import routes as lists
from projections.model_gateway.routing_routes import router_routes as tier_reads
from projections.model_gateway.routing_routes import routes as routing_reads
from service.capabilities.declaration import AppTask, Capability, Process
from service.model_gateway.calls.gate import ModelGate
from service.model_gateway.connections.routes import routes as connection_commands
from service.model_gateway.endpoint.routes import routes as endpoints
from service.model_gateway.presets.grant_routes import routes as preset_grants
from service.model_gateway.presets.preview_routes import routes as preset_previews
from service.model_gateway.presets.restore_routes import routes as preset_restores
from service.model_gateway.presets.routes import routes as preset_commands
from service.model_gateway.recorded_models import RECORDED_MODELS
from service.model_gateway.routed_agents import ROUTED_AGENTS
from service.model_gateway.routing.preview_routes import routes as routing_previews
from service.model_gateway.routing.routes import routes as routing_commands
from service.model_gateway.serving import serving_models
from service.model_gateway.tiers.routes import routes as tier_commands


def _add_resources(app: web.Application, _process: Process) -> None:
    app[ROUTED_AGENTS] = ReadRoutedAgents()
    app[RECORDED_MODELS] = ReadRecordedModels()


def _tasks(_app: web.Application, process: Process) -> Sequence[AppTask]:
    resources = process.resources
    gate = ModelGate(resources.log, resources.key_ring, resources.vault)
    return (
        gate.running,
        serving_models(gate, process.config, demo_port=process.demo_port),
    )


MODEL_GATEWAY = Capability(
    name="model_gateway",
    routes=(
        connection_commands,
        preset_commands,
        preset_previews,
        preset_restores,
        preset_grants,
        lists,
        tier_commands,
        tier_reads,
        routing_commands,
        routing_previews,
        routing_reads,
        call_reads,
        endpoints,
    ),
    projectors=(ModelGatewayProjector(), ModelCallsProjector()),
    foreign_tables=("agent", "agent_manager", "agent_reader", "usage_of_quarter"),
    app_resources=_add_resources,
    app_tasks=_tasks,
)
