"""An MCP client of connectors, of stateless servers and of those with a handshake."""

import itertools
from collections.abc import Callable
from typing import NamedTuple

from service.gateway.gate import Upstream
from service.gateway.upstream.connections import UpstreamConnections
from service.gateway.upstream.dialects import AgentClient, Dialect, Dialects
from service.gateway.upstream.handshake import Handshake
from service.gateway.upstream.side_messages import SideMessages
from service.upstream_http.connection import Connection


class Channel(NamedTuple):
    """A connection on which nothing but the message is left to send.

    ``agent_client`` is whose session it is; None is the service itself.
    """

    upstream: Upstream
    agent_client: AgentClient | None
    dialect: Dialect
    connection: Connection
    reservation: int

    def release(self) -> None:
        """Give the connection back, unless something was sent on it."""
        self.connection.release(self.reservation)


def _untold(_upstream: Upstream) -> None:
    """Tell nobody: who observes tools alone withholds them."""


class UpstreamClient:
    """Sends requests to upstreams, each once.

    ``on_returned_credential`` is told each upstream that sends its credential back.
    """

    def __init__(
        self,
        connections: UpstreamConnections,
        on_returned_credential: Callable[[Upstream], None] = _untold,
    ) -> None:
        self.connections = connections
        self.on_returned_credential = on_returned_credential
        self.bounds = connections.bounds
        self.ids = itertools.count(1)
        self.handshake = Handshake(connections, self.ids, on_returned_credential)
        streams = self.handshake.streams
        self.dialects = Dialects(
            self.handshake.find_dialect, on_forgotten=streams.forget
        )
        self.beside = SideMessages(self.handshake, self.dialects)

    async def close(self) -> None:
        """Listen to no session any more."""
        await self.handshake.streams.close()

    def kept_channel(
        self, upstream: Upstream, client: AgentClient | None
    ) -> Channel | None:
        """Return a channel of which everything stands already, if there is one.

        :raises NotConnectedError: the URL can't be connected to
        """
        dialect = self.dialects.known(upstream, client)
        if dialect is None:
            return None
        connection = self.connections.kept(upstream.url)
        if connection is None:
            return None
        return Channel(upstream, client, dialect, connection, connection.reservation)

    async def open_channel(
        self,
        upstream: Upstream,
        client: AgentClient | None,
        on_connected: Callable[[], None] | None = None,
    ) -> Channel:
        """Connect, and agree on how to speak where that isn't known.

        ``on_connected`` is called once there is a connection.

        :raises UpstreamError: not reachable, or it speaks nothing that we do
        :raises ServiceError: the credential can't be revealed
        """
        dialect = await self.dialects.of(upstream, client, on_connected)
        url = upstream.url
        connection = self.connections.kept(url) or await self.connections.connect(url)
        if on_connected is not None:
            on_connected()
        return Channel(upstream, client, dialect, connection, connection.reservation)
