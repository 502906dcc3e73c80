"""Encrypted secrets of users."""

from projections.secrets.projector import SecretsProjector
from projections.secrets.routes import routes as secret_reads
from service.capabilities.declaration import Capability
from service.secrets.aggregate import Secret
from service.secrets.routes import routes as secret_commands

SECRETS = Capability(
    name="secrets",
    aggregates=(Secret,),
    routes=(secret_commands, secret_reads),
    projectors=(SecretsProjector(),),
)
