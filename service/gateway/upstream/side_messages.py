"""What is sent beside requests: cancellations, answers to pings, session checks."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any, Final

from service.gateway.gate import Upstream
from service.gateway.protocol.messages import RequestId, result_of
from service.gateway.upstream.dialects import AgentClient, Dialect, Dialects
from service.gateway.upstream.handshake import Handshake
from service.gateway.upstream.requests import message_of

SEND_S: Final = 5.0

logger = logging.getLogger(__name__)


class SideMessages:
    """Sends them in tasks of their own, each once; none is waited for."""

    def __init__(self, handshake: Handshake, dialects: Dialects) -> None:
        self._handshake = handshake
        self._dialects = dialects
        self._tasks: set[asyncio.Task[None]] = set()

    def cancel(self, upstream: Upstream, dialect: Dialect, number: int) -> None:
        """Tell a server with handshake, where a closed connection doesn't say so."""
        method, params = "notifications/cancelled", {"requestId": number}
        self._send(upstream, dialect, message_of(method, params), method)

    def answer_ping(
        self, upstream: Upstream, dialect: Dialect, ping_id: RequestId
    ) -> asyncio.Task[None]:
        return self._send(upstream, dialect, result_of(ping_id, {}), "answer to a ping")

    def check_session(
        self, upstream: Upstream, client: AgentClient, dialect: Dialect
    ) -> None:
        """Find out whether a server still knows a session, and forget it if not."""
        work = self._check(upstream, client, dialect)
        self._start(work, "MCP session check")

    def _send(
        self, upstream: Upstream, dialect: Dialect, body: bytes, what: str
    ) -> asyncio.Task[None]:
        work = self._sent(upstream, dialect, body, what)
        return self._start(work, f"MCP {what}")

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _sent(
        self, upstream: Upstream, dialect: Dialect, body: bytes, what: str
    ) -> None:
        try:
            async with asyncio.timeout(SEND_S):
                await self._handshake.send(upstream, dialect, body, what)
        except Exception as error:  # noqa: BLE001 # best effort
            logger.debug("no %s was sent: %s", what, type(error).__name__)

    async def _check(
        self, upstream: Upstream, client: AgentClient, dialect: Dialect
    ) -> None:
        if await self._handshake.is_refused(upstream, dialect):
            self._dialects.forget(upstream, client, dialect)
