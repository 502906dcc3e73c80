"""Cancel work when its client disconnects, where an operation wants that.

Others run to their end: what they have begun may count.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from aiohttp import web

from service.http.server import ClientConnection

_CANCELLED: Final = web.RequestKey("work_is_cancelled", bool)


class ClientLeftError(ConnectionError):
    """The client has disconnected, or has cancelled its request."""


def cancel_work(request: web.Request) -> None:
    """Cancel the work of a request as if its client had disconnected."""
    if request.get(_CANCELLED):
        return
    request[_CANCELLED] = True
    connection = request.protocol
    if isinstance(connection, ClientConnection) and connection.on_lost is not None:
        connection.on_lost()


def is_connected(request: web.Request) -> bool:
    return request.transport is not None and not request.transport.is_closing()


def refuse_if_client_left(request: web.Request) -> None:
    """Raise ClientLeftError where nobody waits for an answer any more."""
    if request.get(_CANCELLED) or not is_connected(request):
        raise ClientLeftError


@contextmanager
def cancelled_on_disconnect(request: web.Request) -> Iterator[None]:
    """Cancel the block when the client of its request disconnects.

    :raises ClientLeftError: it has, before or during the block
    """
    connection = request.protocol
    assert isinstance(connection, ClientConnection)
    task = asyncio.current_task()
    assert task is not None
    refuse_if_client_left(request)
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
