"""Connectors, their owners and grants, and how the gateway reaches them."""

from projections.connectors.projector import ConnectorsProjector
from projections.connectors.routes import routes as connector_reads
from service.capabilities.declaration import Capability
from service.connectors.aggregate import Connector
from service.connectors.grant_routes import routes as grant_commands
from service.connectors.ownership_routes import routes as ownership_commands
from service.connectors.routes import routes as connector_commands

CONNECTORS = Capability(
    name="connectors",
    aggregates=(Connector,),
    routes=(
        connector_commands,
        ownership_commands,
        grant_commands,
        connector_reads,
    ),
    projectors=(ConnectorsProjector(),),
    foreign_tables=("agent_manager",),
)
