"""Destruction of users' keys, and of what was sealed under them."""

from projections.destruction.projector import DestructionProjector
from service.capabilities.declaration import Capability
from service.users.key_routes import routes as key_commands

DESTRUCTION = Capability(
    name="destruction",
    routes=(key_commands,),
    projectors=(DestructionProjector(),),
)
