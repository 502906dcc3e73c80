"""Connections to servers: guarded, bounded, kept for the next request."""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final, NamedTuple

import aiohappyeyeballs
from yarl import URL

from service.upstream_http.addresses import AddressPolicy, AddressRefusedError
from service.upstream_http.connect_errors import connect_error
from service.upstream_http.connection import Connection
from service.upstream_http.errors import (
    ConnectCause,
    ConnectError,
    ConnectionEndedError,
)
from service.upstream_http.response import Response

CONNECT_S: Final = 5.0
# Before the next address of a name is tried as well.
NEXT_ADDRESS_S: Final = 0.25
TARGETS_MAX: Final = 4096
STREAM_SILENCE_S: Final = 3600.0
USER_AGENT: Final = "agent-runtime"


class ServerAddress(NamedTuple):
    """An origin of URLs; requests to one origin share connections."""

    scheme: str
    host: str
    port: int


@cache
def _tls_context() -> ssl.SSLContext:
    """Return the settings of TLS, with the certificates of the system read once."""
    context = ssl.create_default_context()
    context.set_alpn_protocols(["http/1.1"])
    return context


@dataclass(frozen=True, slots=True)
class Target:
    """A URL, and the lines that each request to it begins with, after the method."""

    origin: ServerAddress
    head: str


class Connections:
    """Sends requests to servers of others.

    Each new socket's address is checked when it is connected, so no name
    can resolve to another address after the check. No redirects are followed, and there
    are no cookies and no proxies from the environment. ``silence_s`` without a byte,
    while an answer is due, end a connection. ``user_agent`` is sent with each request,
    unless None: then it is for those who send one to name it.
    """

    def __init__(
        self,
        policy: AddressPolicy,
        silence_s: float,
        *,
        user_agent: str | None = USER_AGENT,
    ) -> None:
        self._policy = policy
        self._silence_s = silence_s
        agent = f"User-Agent: {user_agent}\r\n" if user_agent else ""
        # Nothing here decompresses an answer that is compressed nevertheless.
        self._lines = f"{agent}Accept-Encoding: identity\r\n"
        self._tls = _tls_context()
        self._idle: dict[ServerAddress, list[Connection]] = {}
        self._open: set[Connection] = set()

    async def post(
        self,
        url: str,
        headers: Mapping[str, str],
        body: bytes,
        on_connected: Callable[[], None] | None = None,
    ) -> Response:
        """Send a POST once, and return its answer when the head has arrived.

        ``on_connected`` is called when there is a connection, before anything is sent.

        :raises ConnectError: no connection; nothing was sent
        :raises TimeoutError: not answered in time
        :raises ConnectionError: the connection was closed
        :raises ValueError: the answer isn't HTTP, or a header can't be sent
        """
        connection = self.kept(url) or await self.connect(url)
        if on_connected is not None:
            on_connected()
        return await self.send(connection, url, headers, body)

    async def get(self, url: str, headers: Mapping[str, str]) -> Response:
        """Send a GET on a connection of its own, whose answer may be silent for long.

        Raises what :meth:`post` does.
        """
        connection = await self.connect(url, silence_s=STREAM_SILENCE_S)
        request = self._request(url, headers, None)
        return await _begun(connection, request)

    async def send(
        self, connection: Connection, url: str, headers: Mapping[str, str], body: bytes
    ) -> Response:
        """Send a POST on a connection that was reserved; see :meth:`post`.

        :raises ConnectionEndedError: the connection has ended meanwhile
        """
        request = self._request(url, headers, body)
        if not connection.is_usable:
            connection.close()
            raise ConnectionEndedError("the connection was closed")
        return await _begun(connection, request)

    def close(self) -> None:
        for connection in self._open:
            connection.close()

    @property
    def opened(self) -> int:
        """How many connections are open, idle ones included."""
        return len(self._open)

    def kept(self, url: str) -> Connection | None:
        """Return a connection of before, reserved for one request; None without one.

        :raises ConnectError: the URL can't be connected to
        """
        idle = self._idle.get(_target(url).origin)
        while idle:
            connection = idle.pop()
            if connection.is_usable:
                connection.reserve()
                return connection
            connection.close()
        return None

    async def connect(self, url: str, silence_s: float | None = None) -> Connection:
        """Return a new connection, reserved for one request.

        So many seconds without a byte end it; without them, as many as are set.

        :raises ConnectError: there is none
        """
        origin = _target(url).origin
        try:
            async with asyncio.timeout(CONNECT_S):
                connection = await self._open_connection(
                    origin, silence_s or self._silence_s
                )
        # uvloop raises RuntimeError for some addresses; UnicodeError is a name's.
        except (OSError, RuntimeError, UnicodeError) as error:
            raise connect_error(error) from None
        connection.reserve()
        return connection

    def _request(
        self, url: str, headers: Mapping[str, str], body: bytes | None
    ) -> bytes:
        """Return the bytes of a POST, or without a body of a GET.

        :raises ConnectError: it isn't a URL
        :raises ValueError: a header would end its line
        """
        lines = "".join([f"{name}: {value}\r\n" for name, value in headers.items()])
        count = len(headers)
        if lines.count("\r") != count or lines.count("\n") != count or "\0" in lines:
            raise ValueError("a header contains a line break")
        head = f"{_target(url).head}{self._lines}".encode()
        encoded = lines.encode("latin-1")
        if body is None:
            return b"GET %b%b\r\n" % (head, encoded)
        return b"POST %b%bContent-Length: %d\r\n\r\n%b" % (
            head,
            encoded,
            len(body),
            body,
        )

    async def _open_connection(
        self, origin: ServerAddress, silence_s: float
    ) -> Connection:
        loop = asyncio.get_running_loop()
        is_tls = origin.scheme == "https"
        connected = await self._connected_socket(origin, tls=is_tls)

        def keep(connection: Connection) -> None:
            self._idle.setdefault(origin, []).append(connection)

        def lose(connection: Connection) -> None:
            self._open.discard(connection)
            idle = self._idle.get(origin, [])
            if connection in idle:
                idle.remove(connection)
            if not idle:
                self._idle.pop(origin, None)

        try:
            _, connection = await loop.create_connection(
                lambda: Connection(keep, lose, silence_s),
                sock=connected,
                ssl=self._tls if is_tls else None,
                server_hostname=origin.host if is_tls else None,
            )
        except BaseException:
            connected.close()
            raise
        if not connection.is_usable:
            raise ConnectionResetError
        self._open.add(connection)
        return connection

    async def _connected_socket(
        self, origin: ServerAddress, *, tls: bool
    ) -> socket.socket:
        loop = asyncio.get_running_loop()
        refused: list[AddressRefusedError] = []

        def checked_socket(address: aiohappyeyeballs.AddrInfoType) -> socket.socket:
            family, kind, protocol, _, found = address
            try:
                self._policy.check(str(found[0]), tls=tls, port=origin.port)
            except AddressRefusedError as error:
                refused.append(error)
                raise
            made = socket.socket(family, kind, protocol)
            made.setblocking(False)  # noqa: FBT003 # the standard library's
            return made

        addresses = await loop.getaddrinfo(
            origin.host, origin.port, type=socket.SOCK_STREAM
        )
        try:
            return await aiohappyeyeballs.start_connection(
                addresses,
                happy_eyeballs_delay=NEXT_ADDRESS_S,
                loop=loop,
                socket_factory=checked_socket,
            )
        except OSError:
            # The errors of several addresses are merged into one without reasons.
            if len(refused) == len(addresses):
                raise refused[0] from None
            raise


async def _begun(connection: Connection, request: bytes) -> Response:
    """Send a request, and return its answer when the head has arrived."""
    response = connection.send(request)
    try:
        await response.begin()
    except BaseException:
        response.close()
        raise
    return response


@asynccontextmanager
async def open_connections(
    policy: AddressPolicy, silence_s: float, *, user_agent: str | None = USER_AGENT
) -> AsyncIterator[Connections]:
    """Yield connections, which are closed when the block ends."""
    connections = Connections(policy, silence_s, user_agent=user_agent)
    try:
        yield connections
    finally:
        connections.close()


@lru_cache(TARGETS_MAX)
def _target(url: str) -> Target:
    try:
        parsed = URL(url)
        host, port = parsed.raw_host, parsed.port
    except ValueError:
        raise ConnectError(ConnectCause.INVALID_URL, "not a URL") from None
    if parsed.scheme not in ("https", "http") or not host or port is None:
        raise ConnectError(ConnectCause.INVALID_URL, "not a URL of HTTP")
    if parsed.user or parsed.password:
        raise ConnectError(ConnectCause.INVALID_URL, "a URL with a user")
    # As it is given, unless that could end the line: servers may tell its forms apart.
    is_safe = url.isascii() and url.isprintable() and " " not in url
    query = (URL(url, encoded=True) if is_safe else parsed).raw_query_string
    path = f"{parsed.raw_path}?{query}" if query else parsed.raw_path
    head = f"{path} HTTP/1.1\r\nHost: {parsed.host_port_subcomponent}\r\n"
    return Target(ServerAddress(parsed.scheme, host, port), head)
