"""Cancel work when its client disconnects, where an operation wants that.

Others run to their end: what they have begun may count.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

from service.http.server import ClientConnection


class ClientLeftError(ConnectionError):
    """The client has disconnected, or has cancelled its request."""


def cancel_work(request: web.Request) -> None:
    """Cancel the work of a request as if its client had disconnected."""
    connection = request.protocol
    if isinstance(connection, ClientConnection) and connection.cancelled is not request:
        connection.cancelled = request
        if connection.on_lost is not None:
            connection.on_lost()


def is_connected(request: web.Request) -> bool:
    return request.transport is not None and not request.transport.is_closing()


def refuse_if_client_left(request: web.Request) -> None:
    """Raise ClientLeftError where nobody waits for an answer any more."""
    connection = request.protocol
    assert isinstance(connection, ClientConnection)
    transport = connection.transport
    if connection.cancelled is request or transport is None or transport.is_closing():
        raise ClientLeftError


@contextmanager
def cancelled_on_disconnect(request: web.Request) -> Iterator[None]:
    """Cancel the block when the client of its request disconnects.

    :raises ClientLeftError: it has, before or during the block
    """
    refuse_if_client_left(request)
    connection = request.protocol
    assert isinstance(connection, ClientConnection)
    task = asyncio.current_task()
    assert task is not None
    left = False

    def cancel() -> None:
        nonlocal left
        if not left:
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
