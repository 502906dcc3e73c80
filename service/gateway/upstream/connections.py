"""HTTP connections to connectors: guarded, bounded, and without a memory."""

import socket
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from io import BytesIO
from typing import Any, Final

import aiohttp
from yarl import URL

from service.gateway.upstream.addresses import AddressPolicy, AddressRefusedError

CONNECT_S: Final = 5.0
# Without a byte: before the answer, and between its parts.
SILENCE_S: Final = 60.0
# A whole call, with a handshake before it; progress doesn't extend it.
CALL_S: Final = 300.0
# Shorter than what servers keep, so that they hardly ever close first.
KEEPALIVE_S: Final = 4.0
PIECE_BYTES_MAX: Final = 2**20
DNS_CACHE_S: Final = 10

TIMEOUT: Final = aiohttp.ClientTimeout(
    # Callers bound the whole.
    total=None,
    connect=CONNECT_S,
    sock_read=SILENCE_S,
)


class Connections:
    """Sends requests to connectors.

    Each new socket's address is checked at the moment that it is connected, so no name
    can resolve to another address after the check. No redirects are followed, and there
    are no cookies and no proxies from the environment.
    """

    def __init__(
        self, secure: aiohttp.ClientSession, plain: aiohttp.ClientSession
    ) -> None:
        self._sessions = {"https": secure, "http": plain}

    async def send(
        self, method: str, url: str, headers: dict[str, str], body: bytes | None
    ) -> aiohttp.ClientResponse:
        """Send a request once; the caller closes or releases the response.

        :raises aiohttp.ClientError: no connection, or no answer
        :raises TimeoutError: not in time
        """
        target = URL(url)
        session = self._sessions.get(target.scheme)
        if session is None or target.user or target.password:
            raise aiohttp.InvalidURL(url)
        return await session.request(
            method,
            target,
            # aiohttp warns of more than a megabyte in one piece.
            data=BytesIO(body) if body and len(body) > PIECE_BYTES_MAX else body,
            headers=headers,
            allow_redirects=False,
            timeout=TIMEOUT,
        )


@asynccontextmanager
async def open_connections(policy: AddressPolicy) -> AsyncIterator[Connections]:
    """Yield connections, which are closed when the block ends."""
    async with AsyncExitStack() as stack:
        secure, plain = [
            await stack.enter_async_context(_session(policy, tls=tls))
            for tls in (True, False)
        ]
        yield Connections(secure, plain)


def _session(policy: AddressPolicy, *, tls: bool) -> aiohttp.ClientSession:
    def checked_socket(address: aiohttp.AddrInfoType) -> socket.socket:
        family, kind, protocol, _, target = address
        policy.check(str(target[0]), tls=tls)
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)  # noqa: FBT003 # the standard library's
        return made

    return aiohttp.ClientSession(
        # An answer that is compressed nevertheless is rejected as not JSON.
        headers={"User-Agent": "agent-runtime", "Accept-Encoding": "identity"},
        auto_decompress=False,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,
        connector=aiohttp.TCPConnector(
            # Calls are limited before they are admitted: none waits here.
            limit=0,
            keepalive_timeout=KEEPALIVE_S,
            ttl_dns_cache=DNS_CACHE_S,
            socket_factory=checked_socket,
        ),
    )


def was_connected(error: Exception) -> bool:
    """Say whether a failed request may have reached the server."""
    return not isinstance(
        error,
        aiohttp.ClientConnectorError
        | aiohttp.ConnectionTimeoutError
        | aiohttp.InvalidURL,
    )


def refused_address(error: BaseException | None) -> AddressRefusedError | None:
    """Return the refusal of an address that made a request fail."""
    inner: Any = getattr(error, "os_error", None)
    return inner if isinstance(inner, AddressRefusedError) else None
