"""Connections to connectors, which fail as calls do."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from service.gateway.bounds import DEFAULT_BOUNDS, Bounds
from service.gateway.upstream.errors import NotConnectedError, NotSentError
from service.upstream_http.addresses import AddressPolicy
from service.upstream_http.connection import Connection
from service.upstream_http.connections import Connections, open_connections
from service.upstream_http.errors import ConnectError, UnsentError
from service.upstream_http.response import Response


class UpstreamConnections:
    """Does what :class:`Connections` does, and says in a call's words what wasn't sent.

    ``bounds`` are those of answers. Each method raises :class:`NotConnectedError`
    without a connection, and :class:`NotSentError` when one has ended meanwhile.
    """

    def __init__(self, connections: Connections, bounds: Bounds) -> None:
        self._connections = connections
        self.bounds = bounds

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        on_connected: Callable[[], None] | None = None,
    ) -> Response:
        try:
            return await self._connections.post(url, headers, body, on_connected)
        except UnsentError as error:
            raise _of_call(error) from None

    async def get(self, url: str, headers: Mapping[str, str]) -> Response:
        try:
            return await self._connections.get(url, headers)
        except UnsentError as error:
            raise _of_call(error) from None

    async def send(
        self, connection: Connection, url: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        try:
            return await self._connections.send(connection, url, headers, body)
        except UnsentError as error:
            raise _of_call(error) from None

    def kept(self, url: str) -> Connection | None:
        try:
            return self._connections.kept(url)
        except UnsentError as error:
            raise _of_call(error) from None

    async def connect(self, url: str) -> Connection:
        try:
            return await self._connections.connect(url)
        except UnsentError as error:
            raise _of_call(error) from None


def _of_call(error: UnsentError) -> NotConnectedError | NotSentError:
    if isinstance(error, ConnectError):
        return NotConnectedError(error)
    return NotSentError(error.detail)


@asynccontextmanager
async def open_upstream_connections(
    policy: AddressPolicy, bounds: Bounds = DEFAULT_BOUNDS
) -> AsyncIterator[UpstreamConnections]:
    """Yield connections, which are closed when the block ends."""
    async with open_connections(policy, bounds.silence_s) as connections:
        yield UpstreamConnections(connections, bounds)
