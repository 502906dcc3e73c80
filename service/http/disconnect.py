"""Cancel work when its client disconnects, where an operation wants that.

Others run to their end: what they have begun may count.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

from service.http.server import ClientConnection


class ClientLeftError(ConnectionError):
    """The client has disconnected."""


@contextmanager
def cancelled_on_disconnect(request: web.Request) -> Iterator[None]:
    """Cancel the block when the client of its request disconnects.

    :raises ClientLeftError: it has, before or during the block
    """
    connection = request.protocol
    assert isinstance(connection, ClientConnection)
    task = asyncio.current_task()
    assert task is not None
    if request.transport is None or request.transport.is_closing():
        raise ClientLeftError
    left = False

    def cancel() -> None:
        nonlocal left
        left = True
        task.cancel()

    connection.on_lost = cancel
    try:
        yield
    except asyncio.CancelledError:
        if left:
            task.uncancel()
            raise ClientLeftError from None
        raise
    finally:
        connection.on_lost = None
