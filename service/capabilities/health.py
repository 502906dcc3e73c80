"""Probes and metrics; a process without the API has them, too."""

from aiohttp import web

from projections.health.routes import HEALTH, Health
from projections.health.routes import routes as probes
from service.capabilities.declaration import AppContext, Capability


def _add_resources(app: web.Application, context: AppContext) -> None:
    app[HEALTH] = health = Health(context.resources.pool, context.follower_process)
    phoenix = context.phoenix
    if phoenix is not None:
        health.trace_store_is_available = lambda: phoenix.is_available


HEALTH_PROBES = Capability(
    name="health", routes=(probes,), app_resources=_add_resources
)
