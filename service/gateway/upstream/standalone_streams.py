"""The streams on which servers with sessions say what is part of no answer.

A server that asks its client something there waits for an answer. Some do so during a
call: while there is just one, its client is asked. Otherwise nobody can be, and is said
so: then the tool, which would wait, fails at once.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from cachetools import LRUCache

from service.errors import ServiceError
from service.gateway.gate import Upstream
from service.gateway.protocol.errors import METHOD_NOT_FOUND, RpcError
from service.gateway.protocol.events import EventParser, EventTooLargeError
from service.gateway.protocol.messages import error_of, is_request_id, result_of
from service.gateway.protocol.revisions import EVENT_STREAM
from service.gateway.upstream.answers import remove_credential
from service.gateway.upstream.connections import UpstreamConnections
from service.gateway.upstream.credential_echo import CredentialEcho, add_credential
from service.gateway.upstream.dialects import (
    REMEMBERED_S,
    SESSIONS_MAX,
    AgentClient,
    Dialect,
)
from service.gateway.upstream.errors import NotConnectedError, UpstreamError
from service.gateway.upstream.received_messages import parsed_message
from service.tasks import end_tasks

# Of a process; for one more, that of the session whose last call is longest ago is
# closed.
STREAMS_MAX: Final = 512
# A handshake waits so long for its stream.
OPEN_S: Final = 2.0
# Servers close streams on which nothing is said: after a pause each is opened again.
# The pause doubles while streams last no longer than it.
PAUSE_S: Final = 1.0
PAUSE_MAX_S: Final = 60.0
# In one session: a server that goes on beyond either is left.
ANSWERS_MAX: Final = 1_000
PARSED_BYTES_MAX: Final = 4 * 1024 * 1024
Send = Callable[[Upstream, Dialect, bytes, str], Awaitable[None]]
Key = tuple[int, str]
# Takes a request, or the cancellation of one; says whether it did.
Take = Callable[[dict[str, Any]], bool]
# What has none of these asks nothing, such as a log message, and isn't even parsed.
_ASKING: Final = (b'"id"', b'"requestId"')

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Asked:
    """What a server has asked beside calls in a session, on all its streams."""

    answers: int = 0
    parsed_bytes: int = 0

    @property
    def is_too_much(self) -> bool:
        return self.answers >= ANSWERS_MAX or self.parsed_bytes >= PARSED_BYTES_MAX


@dataclass(slots=True, eq=False)
class _Call:
    """Who takes what is asked during a call, and how many bytes more of it."""

    take: Take
    bytes_left: int

    def takes(self, data: bytes, message: dict[str, Any]) -> bool:
        if len(data) > self.bytes_left or not self.take(message):
            return False
        self.bytes_left -= len(data)
        return True


class StandaloneStreams:
    """Listens to sessions; ``send`` sends a message in one."""

    def __init__(
        self,
        connections: UpstreamConnections,
        send: Send,
        on_returned_credential: Callable[[Upstream], None],
    ) -> None:
        self._connections = connections
        self._send = send
        self._on_returned_credential = on_returned_credential
        self._tasks: OrderedDict[Key, asyncio.Task[None]] = OrderedDict()
        self._calls: dict[Key, list[_Call]] = {}
        # The agent and user of each session with calls; None: it has several.
        self._callers: LRUCache[Key, tuple[int, int | None] | None] = LRUCache(
            SESSIONS_MAX
        )

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

    @contextmanager
    def taking_questions(
        self, upstream: Upstream, dialect: Dialect, client: AgentClient, take: Take
    ) -> Iterator[None]:
        """During the block, ``take`` gets what is asked in a session, unless it shares.

        With two blocks of one session, nobody knows of which of them a question is;
        nor ever where a server gives agents or users one session: a question may come
        when the call that it is of has ended, and is for nobody else.
        """
        key, caller = _key(upstream, dialect), (client.agent, client.user)
        if self._callers.setdefault(key, caller) != caller:
            self._callers[key] = None
        calls = self._calls.setdefault(key, [])
        if key in self._tasks:
            self._tasks.move_to_end(key)
        call = _Call(take, self._connections.bounds.answer_bytes)
        calls.append(call)
        try:
            yield
        finally:
            calls.remove(call)
            if not calls:
                self._calls.pop(key, None)

    async def close(self) -> None:
        await end_tasks(*self._tasks.values())

    def _ended(self, key: Key, task: asyncio.Task[None]) -> None:
        if self._tasks.get(key) is task:
            del self._tasks[key]

    async def _listen(
        self, upstream: Upstream, dialect: Dialect, is_open: asyncio.Event
    ) -> None:
        clock, pause_s, asked = asyncio.get_running_loop().time, PAUSE_S, _Asked()
        try:
            async with asyncio.timeout(REMEMBERED_S):
                while True:
                    began = clock()
                    try:
                        if not await self._read(upstream, dialect, is_open, asked):
                            return
                    except (OSError, NotConnectedError):
                        # Without an answer, nobody knows whether there is a stream.
                        if not is_open.is_set():
                            raise
                    if clock() - began > pause_s:
                        pause_s = PAUSE_S
                    await asyncio.sleep(pause_s)
                    pause_s = min(2 * pause_s, PAUSE_MAX_S)
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
        self,
        upstream: Upstream,
        dialect: Dialect,
        is_open: asyncio.Event,
        asked: _Asked,
    ) -> bool:
        """Read a stream to its end; return whether to open another one."""
        headers = {"Accept": EVENT_STREAM}
        echo = await add_credential(headers, upstream)
        response = await self._connections.get(upstream.url, headers | dialect.headers)
        try:
            is_open.set()
            if (
                response.status != HTTPStatus.OK
                or response.content_type != EVENT_STREAM
            ):
                return False
            key, parser = _key(upstream, dialect), EventParser()
            while piece := await response.read():
                for data in parser.feed(piece):
                    if not any(each in data for each in _ASKING):
                        continue
                    if asked.is_too_much:
                        return False
                    answer = await self._answer_to(data, key, echo, asked)
                    if echo is not None and echo.was_found:
                        echo.was_found = False
                        self._on_returned_credential(upstream)
                    if answer is not None:
                        asked.answers += 1
                        await self._send(upstream, dialect, answer, "answer")
            return True
        finally:
            response.close()

    async def _answer_to(
        self, data: bytes, key: Key, echo: CredentialEcho | None, asked: _Asked
    ) -> bytes | None:
        """Return the gateway's own answer; None to what asks nothing, or was taken."""
        asked.parsed_bytes += len(data)
        try:
            message = await parsed_message(data, exactly=False)
        except UpstreamError:
            return None
        method, number = message.get("method"), message.get("id")
        if not isinstance(method, str):
            return None
        if method == "ping":
            return result_of(number, {}) if is_request_id(number) else None
        if echo is not None:
            await remove_credential(echo, data, message)
        calls = self._calls.get(key, [])
        is_clear = len(calls) == 1 and self._callers.get(key) is not None
        if is_clear and calls[0].takes(data, message):
            # Each call has a bound of its own.
            asked.parsed_bytes -= len(data)
            return None
        if not is_request_id(number):
            return None
        return error_of(number, RpcError(METHOD_NOT_FOUND, "the client can't be asked"))


def _key(upstream: Upstream, dialect: Dialect) -> Key:
    return upstream.connector_id.int, dialect.session_id or ""
