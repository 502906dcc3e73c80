"""Destruction of users' keys, and of what was sealed under them."""

from projections.destruction.projector import DestructionProjector
from service.capabilities.declaration import Capability
from service.gateway.approvals.aggregate import Approvals
from service.secrets.aggregate import Secret
from service.users.key_routes import routes as key_commands

# Also of capabilities that are left out: what these name is to be destroyed.
DESTROYING = (
    Approvals.Refused,
    Approvals.Withdrawn,
    Approvals.Expired,
    Approvals.Used,
    Secret.VersionsDestroyed,
    Secret.Deleted,
)
DESTRUCTION = Capability(
    name="destruction",
    routes=(key_commands,),
    projectors=(DestructionProjector(DESTROYING),),
)
