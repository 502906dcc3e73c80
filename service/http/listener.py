"""Listening for HTTP, and draining connections at the end."""

import asyncio
import select
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from aiohttp import web

from service.http.address import cannot_listen
from service.http.overload import ConnectionLimit
from service.http.server import Runner, close_while_draining

# How long requests under way may take once the process has been told to stop.
DRAIN_TIMEOUT_S: Final = 20.0
# How long the rest of a refused body is discarded, so that the client can read why.
LINGER_S: Final = 2.0
BACKLOG: Final = 1024
# How long clients that have just connected may take to send their request.
FIRST_REQUEST_S: Final = 0.5
ACCEPT_CHECK_S: Final = 0.01


@asynccontextmanager
async def listen(
    app: web.Application, host: str, port: int, *, keepalive_s: float
) -> AsyncIterator[str]:
    """Serve an application and yield its base URL; drain its requests at the end.

    Clients that are connected by then are answered, also those that the system has
    connected and this process hasn't accepted yet. ``keepalive_s`` is how long a
    connection without a request is kept open, in seconds.

    :raises StartError: the address can't be listened on
    """
    app.on_response_prepare.append(close_while_draining)
    runner = Runner(
        app,
        limit=ConnectionLimit(),
        access_log=None,
        shutdown_timeout=DRAIN_TIMEOUT_S,
        keepalive_timeout=keepalive_s,
        lingering_time=LINGER_S,
        handler_cancellation=False,
    )
    await runner.setup()
    try:
        try:
            site = web.TCPSite(runner, host, port, backlog=BACKLOG)
            await site.start()
        except OSError as error:
            raise cannot_listen(host, port, error) from None
        bound_host, bound_port = runner.addresses[0][:2]
        authority = f"[{bound_host}]" if ":" in bound_host else bound_host
        yield f"http://{authority}:{bound_port}"
        await _accept_last(site)
    finally:
        await runner.cleanup()


async def _accept_last(site: web.TCPSite) -> None:
    """Accept who has connected, then listen no more, and wait for their requests.

    Closing the listener resets connections that the system holds for it. Who connects
    between the last look and the close is reset: ``/readyz`` has said 503 by then.
    """
    # aiohttp shows its address only. uvloop's servers are of another class.
    server: Any = site._server  # noqa: SLF001
    waiting = select.poll()
    for each in server.sockets:
        waiting.register(each.fileno(), select.POLLIN)
    while waiting.poll(0):  # noqa: ASYNC110 # the loop accepts, and tells nobody
        await asyncio.sleep(ACCEPT_CHECK_S)
    await site.stop()
    await asyncio.sleep(FIRST_REQUEST_S)
