"""Messages posted to upstreams, with their credentials, each once."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Final

from service.gateway.gate import Outcome, Upstream
from service.gateway.protocol.revisions import ACCEPT, JSON
from service.gateway.upstream.answers import UpstreamAnswer
from service.gateway.upstream.connections import Connections
from service.gateway.upstream.errors import ENDED, NO_ANSWER, UpstreamError, unusable
from service.gateway.upstream.http_connection import Response

# For the end of a stream, right behind its answer.
END_S: Final = 0.5
_ending: set[asyncio.Task[None]] = set()


class Post:
    """One message: sent when the block begins, which gets the response to it.

    ``on_connected`` is called before that, once there is a connection. When the block
    ends, the connection is closed unless the response was read.

    :raises UpstreamError: it wasn't answered
    :raises ServiceError: the credential can't be revealed
    """

    __slots__ = (
        "_body",
        "_connections",
        "_headers",
        "_on_connected",
        "_response",
        "_upstream",
    )

    def __init__(
        self,
        connections: Connections,
        upstream: Upstream,
        headers: dict[str, str],
        body: bytes,
        on_connected: Callable[[], None] | None = None,
    ) -> None:
        self._connections = connections
        self._upstream = upstream
        self._headers = headers
        self._body = body
        self._on_connected = on_connected

    async def __aenter__(self) -> UpstreamAnswer:
        headers = {"Content-Type": JSON, "Accept": ACCEPT}
        credential = self._upstream.credential
        if credential is not None:
            value = await credential.reveal()
            headers[credential.header] = value.get_secret_value()
        headers |= self._headers
        try:
            self._response = await self._connections.post(
                self._upstream.url, headers, self._body, self._on_connected
            )
        except TimeoutError:
            raise UpstreamError(NO_ANSWER, Outcome.TIMEOUT) from None
        except (OSError, ValueError) as error:
            raise unusable(type(error).__name__, ENDED) from None
        return UpstreamAnswer(self._response)

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._response.is_complete:
            return
        if kind is not None:
            self._response.close()
            return
        task = asyncio.create_task(_end(self._response), name="MCP end of stream")
        _ending.add(task)
        task.add_done_callback(_ending.discard)


async def _end(response: Response) -> None:
    """Keep the connection of a stream that ends right behind its answer."""
    try:
        async with asyncio.timeout(END_S):
            while await response.read():
                pass
    except (OSError, ValueError):
        response.close()
