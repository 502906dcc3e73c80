"""Ask clients with a handshake what an upstream wants to know, within their call.

A client answers by a request of its own, which may arrive in another process.
"""

import asyncio
import base64
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import orjson
from aiohttp import web
from cachetools import LRUCache

from service.agent_tokens.caller import Caller
from service.gateway.endpoint.cancellations import CANCELLED
from service.gateway.endpoint.client_call import ClientCall
from service.gateway.endpoint.client_sessions import name_of
from service.gateway.protocol.messages import RequestId
from service.http.disconnect import cancelled_on_disconnect, refuse_if_client_left

# PostgreSQL's notifications have less than 8,000 bytes.
PIECE_CHARACTERS: Final = 7_500
# Answers that a process remembers to have announced.
ANNOUNCED_MAX: Final = 4096
# What of an upstream's request the client gets.
_ASKED: Final = ("method", "params")


class NoAnswerError(Exception):
    """The client didn't answer, or not with a result; the message is for the agent."""


class Seal(Protocol):
    def seal(self, message: bytes, name: str) -> bytes: ...
    def open(self, sealed: bytes, name: str) -> bytes | None: ...


@dataclass(slots=True)
class _Waiting:
    answer: asyncio.Future[Mapping[str, Any]]
    pieces: list[str] = field(default_factory=list)


class Questions:
    """The questions to clients of this process that aren't answered yet.

    ``announce`` tells the other processes of an answer to none of them, in pieces; of
    the first to an id that a process gave, so that no client has them told without end.
    """

    def __init__(
        self, announce: Callable[[Sequence[str]], Awaitable[None]], seal: Seal
    ) -> None:
        self._announce = announce
        self._seal = seal
        self._waiting: dict[str, _Waiting] = {}
        self._announced: LRUCache[bytes, None] = LRUCache(ANNOUNCED_MAX)

    async def ask(
        self, call: ClientCall, requests: Mapping[str, Any], timeout_s: float
    ) -> dict[str, Any]:
        """Return the results of the client, by the names of the requests.

        :raises NoAnswerError: there is none
        :raises ClientLeftError: the client has left, or has cancelled its call
        """
        with cancelled_on_disconnect(call.http):
            try:
                async with call.reply.kept_alive(), asyncio.timeout(timeout_s):
                    found = await self.outcomes(call, [*requests.values()])
            except TimeoutError:
                raise NoAnswerError("nobody answered in time") from None
        if not all(isinstance(each.get("result"), dict) for each in found):
            raise NoAnswerError("the client answered with an error")
        return {
            name: each["result"] for name, each in zip(requests, found, strict=True)
        }

    async def outcomes(
        self, call: ClientCall, requests: Sequence[Mapping[str, Any]]
    ) -> list[Mapping[str, Any]]:
        """Return ``result`` or ``error`` of each request, as the client answers it.

        Where that is cancelled, the client is told that its answers are too late.

        :raises ConnectionError: the client has left, or doesn't read
        """
        # Another each time, and known to every process as given to this session.
        session = name_of(call.http, call.request.caller, "")
        ids = [self._seal.seal(b"", session).hex() for _ in requests]
        names = [name_of(call.http, call.request.caller, each) for each in ids]
        with self._asking(names) as answers:
            try:
                for request_id, request in zip(ids, requests, strict=True):
                    # Nothing else: it could look like the answer to another call.
                    given = {key: request[key] for key in _ASKED if key in request}
                    message = {"jsonrpc": "2.0", "id": request_id, **given}
                    await call.reply.notify(message)
                return await asyncio.gather(*answers)
            except asyncio.CancelledError:
                with suppress(ConnectionError):
                    refuse_if_client_left(call.http)
                    for request_id, answer in zip(ids, answers, strict=True):
                        # Also to one that the client may not have read yet.
                        if answer.cancelled() or not answer.done():
                            await call.reply.notify(_cancellation(request_id))
                raise

    @contextmanager
    def _asking(
        self, names: Iterable[str]
    ) -> Iterator[list[asyncio.Future[Mapping[str, Any]]]]:
        loop = asyncio.get_running_loop()
        waiting = {name: _Waiting(loop.create_future()) for name in names}
        self._waiting |= waiting
        try:
            yield [each.answer for each in waiting.values()]
        finally:
            for name in waiting:
                del self._waiting[name]

    async def answered(
        self,
        request: web.Request,
        caller: Caller,
        request_id: RequestId,
        outcome: Mapping[str, Any],
    ) -> None:
        """Take what a client answers, for whichever process has call."""
        name = name_of(request, caller, request_id)
        if name in self._waiting:
            self._take(name, outcome)
            return
        if not self._is_first(request, caller, request_id):
            return
        sealed = self._seal.seal(orjson.dumps(outcome), name)
        text = base64.b64encode(sealed).decode()
        pieces = [
            text[start : start + PIECE_CHARACTERS]
            for start in range(0, len(text), PIECE_CHARACTERS)
        ]
        last = len(pieces) - 1
        await self._announce(
            [f"{name} {n} {last} {each}" for n, each in enumerate(pieces)]
        )

    def _is_first(
        self, request: web.Request, caller: Caller, request_id: RequestId
    ) -> bool:
        """Say whether this answers a question to this session, the first time here."""
        try:
            given = bytes.fromhex(str(request_id))
        except ValueError:
            return False
        session = name_of(request, caller, "")
        if given in self._announced or self._seal.open(given, session) != b"":
            return False
        self._announced[given] = None
        return True

    def answered_elsewhere(self, piece: str) -> None:
        """Take a piece of an answer that another process got, in its order."""
        name, number, last, text = piece.split(" ")
        waiting = self._waiting.get(name)
        if waiting is None:
            return
        if number == "0":
            waiting.pieces.clear()
        waiting.pieces.append(text)
        if number == last and len(waiting.pieces) == int(last) + 1:
            sealed = base64.b64decode("".join(waiting.pieces))
            opened = self._seal.open(sealed, name)
            if opened is not None:
                self._take(name, orjson.loads(opened))

    def _take(self, name: str, outcome: Mapping[str, Any]) -> None:
        answer = self._waiting[name].answer
        # The first answer counts.
        if not answer.done():
            answer.set_result(outcome)


def _cancellation(request_id: RequestId) -> dict[str, Any]:
    params = {"requestId": request_id}
    return {"jsonrpc": "2.0", "method": CANCELLED, "params": params}
