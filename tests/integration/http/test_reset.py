"""A reset connection leaves nothing in the system, on the event loops in use."""

import asyncio
import socket
from collections.abc import Callable
from typing import Any

import pytest
import uvloop

from service.http.reset import reset


@pytest.mark.parametrize("run", [asyncio.run, uvloop.run], ids=["asyncio", "uvloop"])
def test_what_the_client_has_not_read_is_discarded(run: Callable[[Any], Any]) -> None:
    async def reset_by_server() -> int:
        connected: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()
        server = await asyncio.start_server(
            lambda _, writer: connected.put_nowait(writer), "127.0.0.1", 0
        )
        with socket.socket() as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            client.settimeout(0)
            loop = asyncio.get_running_loop()
            await loop.sock_connect(client, server.sockets[0].getsockname())
            writer = await connected.get()
            # More than the system takes.
            writer.write(bytes(32 * 1024 * 1024))
            reset(writer.transport)
            await writer.wait_closed()
            received = 0
            try:
                while piece := await loop.sock_recv(client, 65536):
                    received += len(piece)
            except ConnectionResetError:
                return received
            finally:
                server.close()
        raise AssertionError("the connection was closed in order")

    assert run(reset_by_server()) < 1024 * 1024
