"""The streams on which servers with sessions say what is part of no answer.

A server that asks its client something there waits for an answer. The gateway declares
no capability to be asked, and says so: then the tool, which would wait, fails at once.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from http import HTTPStatus
from typing import Any, Final

import orjson

from service.errors import ServiceError
from service.gateway.gate import Upstream
from service.gateway.protocol.errors import METHOD_NOT_FOUND, RpcError
from service.gateway.protocol.events import EventParser, EventTooLargeError
from service.gateway.protocol.messages import error_of, result_of
from service.gateway.protocol.revisions import EVENT_STREAM
from service.gateway.upstream.connections import Connections
from service.gateway.upstream.dialects import REMEMBERED_S, Dialect
from service.gateway.upstream.errors import UpstreamError
from service.tasks import end_tasks

# Of a process; the stream of another session is closed for one more.
STREAMS_MAX: Final = 512
# A handshake waits so long for its stream.
OPEN_S: Final = 2.0
# On one stream: a server that goes on beyond either is left.
ANSWERS_MAX: Final = 1_000
PARSED_BYTES_MAX: Final = 4 * 1024 * 1024
Send = Callable[[Upstream, Dialect, bytes, str], Awaitable[None]]

logger = logging.getLogger(__name__)


class StandaloneStreams:
    """Listens to sessions; ``send`` sends a message in one."""

    def __init__(self, connections: Connections, send: Send) -> None:
        self._connections = connections
        self._send = send
        self._tasks: OrderedDict[tuple[int, str], asyncio.Task[None]] = OrderedDict()

    async def open(self, upstream: Upstream, dialect: Dialect) -> None:
        """Listen to a session; returns once its server knows, or after a while.

        Many servers have no such stream, and say so by a status.
        """
        key = _key(upstream, dialect)
        is_open = asyncio.Event()
        # Some servers give several callers one id: that session has one stream.
        if same := self._tasks.pop(key, None):
            same.cancel()
        while len(self._tasks) >= STREAMS_MAX:
            self._tasks.popitem(last=False)[1].cancel()
        task = asyncio.create_task(
            self._listen(upstream, dialect, is_open), name="MCP standalone stream"
        )
        self._tasks[key] = task
        task.add_done_callback(lambda done: self._ended(key, done))
        with suppress(TimeoutError):
            async with asyncio.timeout(OPEN_S):
                await is_open.wait()

    def forget(self, upstream: Upstream, dialect: Dialect) -> None:
        """Listen no more: the session is over."""
        if task := self._tasks.get(_key(upstream, dialect)):
            task.cancel()

    async def close(self) -> None:
        await end_tasks(*self._tasks.values())

    def _ended(self, key: tuple[int, str], task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def _listen(
        self, upstream: Upstream, dialect: Dialect, is_open: asyncio.Event
    ) -> None:
        try:
            async with asyncio.timeout(REMEMBERED_S):
                await self._read(upstream, dialect, is_open)
        except (
            EventTooLargeError,
            OSError,
            ServiceError,
            UpstreamError,
            ValueError,
        ) as error:
            logger.debug("a standalone stream ended: %s", type(error).__name__)
        finally:
            is_open.set()

    async def _read(
        self, upstream: Upstream, dialect: Dialect, is_open: asyncio.Event
    ) -> None:
        headers = {"Accept": EVENT_STREAM}
        if (credential := upstream.credential) is not None:
            headers[credential.header] = (await credential.reveal()).get_secret_value()
        response = await self._connections.get(upstream.url, headers | dialect.headers)
        try:
            is_open.set()
            if (
                response.status != HTTPStatus.OK
                or response.content_type != EVENT_STREAM
            ):
                return
            parser, answers, parsed_bytes = EventParser(), 0, 0
            while piece := await response.read():
                for data in parser.feed(piece):
                    # What asks nothing, such as a log message, isn't even parsed.
                    if b'"id"' not in data:
                        continue
                    parsed_bytes += len(data)
                    if parsed_bytes > PARSED_BYTES_MAX or answers >= ANSWERS_MAX:
                        return
                    if (answer := _answer_to(data)) is not None:
                        answers += 1
                        await self._send(upstream, dialect, answer, "answer")
        finally:
            response.close()


def _key(upstream: Upstream, dialect: Dialect) -> tuple[int, str]:
    return upstream.connector_id.int, dialect.session_id or ""


def _answer_to(data: bytes) -> bytes | None:
    """Return the answer to a request of the server; None to what is none."""
    try:
        message: Any = orjson.loads(data)
    except ValueError:
        return None
    if not isinstance(message, dict) or not isinstance(message.get("method"), str):
        return None
    number = message.get("id")
    if not isinstance(number, str | int) or isinstance(number, bool):
        return None
    if message["method"] == "ping":
        return result_of(number, {})
    return error_of(number, RpcError(METHOD_NOT_FOUND, "the client can't be asked"))
