"""Messages posted to upstreams, with their credentials, each once."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Final

from service.gateway.gate import Outcome, Upstream
from service.gateway.protocol.revisions import ACCEPT, JSON
from service.gateway.upstream.answers import UpstreamAnswer
from service.gateway.upstream.connections import UpstreamConnections
from service.gateway.upstream.credential_echo import add_credential
from service.gateway.upstream.errors import (
    ENDED,
    HEAD,
    NO_ANSWER,
    NotSentError,
    UpstreamError,
    too_large,
    unusable,
)
from service.upstream_http.connection import Connection
from service.upstream_http.response import HeadTooLargeError, Response

# Between the decision on a call and its being sent, for opening its credential.
SEND_S: Final = 1.0
# For the end of a stream, right behind its answer.
END_S: Final = 0.5
_ending: set[asyncio.Task[None]] = set()


class Post:
    """One message: sent when the block begins, which gets the response to it.

    It goes on ``connection``, which was reserved for it, or else on any: then
    ``on_connected`` is called before, once there is one. When the block ends, the
    connection is closed unless the response was read. ``is_decided``: it is a call,
    which must be sent soon, or not at all, and its answer passed on as it is.

    :raises NotSentError: its connection has ended, or its credential took too long
    :raises UpstreamError: it wasn't answered
    :raises ServiceError: the credential can't be revealed
    """

    __slots__ = (
        "_body",
        "_connection",
        "_connections",
        "_headers",
        "_is_decided",
        "_on_connected",
        "_response",
        "_upstream",
    )

    def __init__(
        self,
        connections: UpstreamConnections,
        upstream: Upstream,
        headers: dict[str, str],
        body: bytes,
        on_connected: Callable[[], None] | None = None,
        *,
        connection: Connection | None = None,
        is_decided: bool = False,
    ) -> None:
        self._connections = connections
        self._upstream = upstream
        self._headers = headers
        self._body = body
        self._on_connected = on_connected
        self._connection = connection
        self._is_decided = is_decided

    async def __aenter__(self) -> UpstreamAnswer:
        headers = {"Content-Type": JSON, "Accept": ACCEPT}
        clock = asyncio.get_running_loop().time
        began = clock()
        echo = await add_credential(headers, self._upstream)
        if self._is_decided and clock() - began > SEND_S:
            raise NotSentError("opening the credential took too long")
        headers |= self._headers
        url, connection = self._upstream.url, self._connection
        try:
            if connection is not None:
                self._response = await self._connections.send(
                    connection, url, headers, self._body
                )
            else:
                self._response = await self._connections.post(
                    url, headers, self._body, self._on_connected
                )
        except TimeoutError:
            raise UpstreamError(NO_ANSWER, Outcome.TIMEOUT) from None
        except HeadTooLargeError:
            raise too_large(HEAD) from None
        except (OSError, ValueError) as error:
            raise unusable(type(error).__name__, ENDED) from None
        return UpstreamAnswer(
            self._response,
            url,
            self._connections.bounds.answer_bytes,
            echo,
            exactly=self._is_decided,
        )

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
