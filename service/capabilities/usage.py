"""Sums of tokens and cost."""

from projections.usage.projector import UsageProjector
from projections.usage.routes import routes as usage_reads
from service.capabilities.declaration import Capability

USAGE = Capability(
    name="usage",
    routes=(usage_reads,),
    projectors=(UsageProjector(),),
    foreign_tables=("agent_manager", "session", "session_turn"),
)
