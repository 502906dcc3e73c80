"""Agents and who manages them."""

from projections.agents.projector import AgentsProjector
from projections.agents.routes import routes as agent_reads
from service.agents.aggregate import Agent
from service.agents.routes import routes as agent_commands
from service.capabilities.declaration import Capability

AGENTS = Capability(
    name="agents",
    aggregates=(Agent,),
    routes=(agent_commands, agent_reads),
    projectors=(AgentsProjector(),),
)
