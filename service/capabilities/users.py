"""Users, their roles and their tokens."""

from projections.users.projector import UsersProjector
from projections.users.routes import routes as user_reads
from service.capabilities.declaration import Capability
from service.users.aggregate import Token, User, UserName
from service.users.routes import routes as user_commands
from service.users.token_routes import routes as token_commands

USERS = Capability(
    name="users",
    aggregates=(User, UserName, Token),
    routes=(user_commands, token_commands, user_reads),
    projectors=(UsersProjector(),),
    foreign_tables=("agent_manager",),
)
