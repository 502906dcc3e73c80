"""Listening for HTTP, and draining connections at the end."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from aiohttp import web

from service.errors import StartError
from service.http.overload import ConnectionLimit
from service.http.server import Runner, close_while_draining

# How long requests under way may take once the process has been told to stop.
DRAIN_TIMEOUT_S: Final = 20.0
KEEPALIVE_TIMEOUT_S: Final = 75.0
# How long the rest of a refused body is discarded, so that the client can read why.
LINGER_S: Final = 2.0
BACKLOG: Final = 1024


@asynccontextmanager
async def listen(app: web.Application, host: str, port: int) -> AsyncIterator[str]:
    """Serve an application and yield its base URL; drain its requests at the end.

    :raises StartError: the address can't be listened on
    """
    app.on_response_prepare.append(close_while_draining)
    runner = Runner(
        app,
        limit=ConnectionLimit(),
        access_log=None,
        shutdown_timeout=DRAIN_TIMEOUT_S,
        keepalive_timeout=KEEPALIVE_TIMEOUT_S,
        lingering_time=LINGER_S,
        handler_cancellation=False,
    )
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, host, port, backlog=BACKLOG).start()
        except OSError as error:
            raise StartError(
                f"can't listen on {host}, port {port}: {error.strerror or error}"
            ) from None
        bound_host, bound_port = runner.addresses[0][:2]
        authority = f"[{bound_host}]" if ":" in bound_host else bound_host
        yield f"http://{authority}:{bound_port}"
    finally:
        await runner.cleanup()
