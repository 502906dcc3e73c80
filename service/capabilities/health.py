"""Probes and metrics; a process without the API has them, too."""

from contextlib import AbstractAsyncContextManager

from aiohttp import web

from projections.health.database_size import measuring_database_size
from projections.health.routes import HEALTH, Health
from projections.health.routes import routes as probes
from service.capabilities.declaration import Capability, Process


def _add_resources(app: web.Application, process: Process) -> None:
    app[HEALTH] = Health(
        process.resources.pool,
        process.follower_process,
        left_out=process.followers_left_out,
    )


def _database_size(process: Process) -> AbstractAsyncContextManager[None]:
    return measuring_database_size(process.resources.pool)


HEALTH_PROBES = Capability(
    name="health",
    routes=(probes,),
    app_resources=_add_resources,
    background={"followers": (_database_size,)},
)
