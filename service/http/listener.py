"""Listening for HTTP, and draining connections at the end."""

import asyncio
import ctypes
import os
import select
import socket
import struct
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

from aiohttp import web

from service.http.address import cannot_listen
from service.http.overload import ConnectionLimit
from service.http.server import Runner, close_while_draining

# How long requests under way may take once the process has been told to stop.
DRAIN_TIMEOUT_S: Final = 20.0
KEEPALIVE_TIMEOUT_S: Final = 75.0
# How long the rest of a refused body is discarded, so that the client can read why.
LINGER_S: Final = 2.0
BACKLOG: Final = 1024
# How long clients that have just connected may take to send their request.
FIRST_REQUEST_S: Final = 0.5
ACCEPT_CHECK_S: Final = 0.01
# Linux's, which Python doesn't name.
SO_ATTACH_FILTER: Final = 26
BPF_RETURN: Final = 0x06


@asynccontextmanager
async def listen(app: web.Application, host: str, port: int) -> AsyncIterator[str]:
    """Serve an application and yield its base URL; drain its requests at the end.

    Clients that are connected by then are answered, also those that the system has
    connected and this process hasn't accepted yet.

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
    """Let nobody else connect, accept who has connected, and wait for their requests.

    Closing the listener resets connections that it holds.
    """
    # aiohttp shows its address only. uvloop's servers are of another class.
    server: Any = site._server  # noqa: SLF001
    listeners = [each.fileno() for each in server.sockets]
    for descriptor in listeners:
        _refuse_packets(descriptor)
    waiting = select.poll()
    for descriptor in listeners:
        waiting.register(descriptor, select.POLLIN)
    while waiting.poll(0):  # noqa: ASYNC110 # the loop accepts, and tells nobody
        await asyncio.sleep(ACCEPT_CHECK_S)
    await asyncio.sleep(FIRST_REQUEST_S)


def _refuse_packets(descriptor: int) -> None:
    """Drop what arrives for a listener, where the system can: nobody connects then.

    Accepted connections have sockets of their own and are not affected.
    """
    if sys.platform != "linux":
        return
    # A program of one instruction: keep nothing of a packet.
    drop = ctypes.create_string_buffer(struct.pack("HBBI", BPF_RETURN, 0, 0, 0))
    program = struct.pack("HL", 1, ctypes.addressof(drop))
    with socket.socket(fileno=os.dup(descriptor)) as listener, suppress(OSError):
        listener.setsockopt(socket.SOL_SOCKET, SO_ATTACH_FILTER, program)
