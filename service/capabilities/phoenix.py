"""An Arize Phoenix that enriches lists of sessions."""

from collections.abc import AsyncIterator, Sequence

from aiohttp import web

from projections.health.routes import HEALTH
from projections.sessions.phoenix.store import PhoenixStore, open_phoenix
from projections.sessions.trace_store import TRACES
from service.capabilities.declaration import AppTask, Capability, Process


def connect(app: web.Application, store: PhoenixStore) -> None:
    """Let lists of sessions ask a store, and the probes tell whether it answers."""
    app[TRACES].store = store
    app[HEALTH].trace_store_is_available = lambda: store.is_available


def _tasks(_app: web.Application, process: Process) -> Sequence[AppTask]:
    config = process.config
    if (url := config.trace_store) is None:
        return ()

    async def connected(app: web.Application) -> AsyncIterator[None]:
        async with open_phoenix(
            url, token=config.trace_store_token, project=config.trace_store_project
        ) as store:
            connect(app, store)
            yield

    return (connected,)


PHOENIX = Capability(name="phoenix", app_tasks=_tasks)
