"""Probes and metrics; a process without the API has them, too."""

from contextlib import AbstractAsyncContextManager

from aiohttp import web

from projections.health.database_size import measuring_database_size
from projections.health.routes import HEALTH, Health
from projections.health.routes import routes as probes
from service.capabilities.declaration import AppContext, Capability
from service.config import Config
from service.resources import Resources


def _add_resources(app: web.Application, context: AppContext) -> None:
    app[HEALTH] = health = Health(context.resources.pool, context.follower_process)
    phoenix = context.phoenix
    if phoenix is not None:
        health.trace_store_is_available = lambda: phoenix.is_available


def _database_size(
    resources: Resources, _config: Config
) -> AbstractAsyncContextManager[None]:
    return measuring_database_size(resources.pool)


HEALTH_PROBES = Capability(
    name="health",
    routes=(probes,),
    app_resources=_add_resources,
    follower_tasks=(_database_size,),
)
