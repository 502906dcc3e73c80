"""A bound on how many requests of one process read history at once."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from functools import wraps
from typing import Any, Final, TypeVar, cast
from uuid import UUID

from aiohttp import web

from service.errors import RETRY_LATER, TooManyRequestsError
from service.http.authentication import PRINCIPAL

# Each may hold a connection to the database, of which there are ten, and a thread.
AT_ONCE_MAX: Final = 3
# One is left to others.
OF_USER_AT_ONCE_MAX: Final = 2
OF_USER_MAX: Final = 64
WAIT_S: Final = 2.0
# What an operation that reads history also refuses with.
BUSY: Final = {
    429: "too many reads of history at once, of this caller or of all "
    "(`too_many_replays`)"
}

Function = TypeVar("Function", bound=Callable[..., Awaitable[Any]])


class Replays:
    """The turns of one process: a read of history waits for its own."""

    def __init__(self, *, wait_s: float = WAIT_S) -> None:
        self._at_once = asyncio.Semaphore(AT_ONCE_MAX)
        self._users: dict[UUID, _User] = {}
        self._wait_s = wait_s

    @asynccontextmanager
    async def turn(self, user_id: UUID) -> AsyncIterator["Turn"]:
        """Wait for a turn, and hold it until the block ends.

        :raises TooManyRequestsError: the caller has too many already, or those before
            take too long
        """
        user = self._users.setdefault(user_id, _User())
        if user.in_flight >= OF_USER_MAX:
            raise _too_many(f"you have {OF_USER_MAX} reads of history in flight")
        user.in_flight += 1
        turn = Turn(user.at_once, self._at_once, self._wait_s)
        try:
            await turn.begin()
            try:
                yield turn
            finally:
                turn.end()
        finally:
            user.in_flight -= 1
            if not user.in_flight:
                del self._users[user_id]


@dataclass(slots=True)
class _User:
    """A caller with reads of history in flight."""

    at_once: asyncio.Semaphore = field(
        default_factory=lambda: asyncio.Semaphore(OF_USER_AT_ONCE_MAX)
    )
    in_flight: int = 0


class Turn:
    """One of the turns; who holds it may give it up for a while."""

    def __init__(
        self, of_user: asyncio.Semaphore, of_all: asyncio.Semaphore, wait_s: float
    ) -> None:
        self._of_user = of_user
        self._of_all = of_all
        self._wait_s = wait_s
        self._is_held = False

    async def begin(self) -> None:
        """Wait for the turn.

        :raises TooManyRequestsError: those before take too long
        """
        try:
            async with asyncio.timeout(self._wait_s):
                await self._of_user.acquire()
                try:
                    await self._of_all.acquire()
                except BaseException:
                    self._of_user.release()
                    raise
        except TimeoutError:
            raise _too_many(
                f"other reads of history took more than {self._wait_s:g} s"
            ) from None
        self._is_held = True

    def end(self) -> None:
        if self._is_held:
            self._is_held = False
            self._of_all.release()
            self._of_user.release()


REPLAYS = web.AppKey("replays", Replays)
TURN = web.RequestKey("turn", Turn)


@asynccontextmanager
async def out_of_turn(request: web.Request) -> AsyncIterator[None]:
    """Leave the turn of a request, if it has one, to others while it only waits.

    :raises TooManyRequestsError: it doesn't get another one
    """
    turn = request.get(TURN)
    if turn is None:
        yield
        return
    turn.end()
    yield
    await turn.begin()


def turn_of(request: web.Request) -> AbstractAsyncContextManager[Turn]:
    """Return the turn that a request waits for before it reads history.

    :raises TooManyRequestsError: it doesn't get one
    """
    return request.config_dict[REPLAYS].turn(request[PRINCIPAL].user_id)


def in_turn(function: Function) -> Function:
    """Let a route function have a turn as it reads history."""

    @wraps(function)
    async def waiting(request: web.Request, **arguments: Any) -> Any:
        async with turn_of(request) as request[TURN]:
            return await function(request, **arguments)

    return cast("Function", waiting)


def in_turn_if_past(function: Function) -> Function:
    """Let a route function have a turn where its query says ``at``."""
    past = in_turn(function)

    @wraps(function)
    async def waiting(request: web.Request, *, query: Any, **arguments: Any) -> Any:
        called = function if query.at is None else past
        return await called(request, query=query, **arguments)

    return cast("Function", waiting)


def _too_many(what: str) -> TooManyRequestsError:
    return TooManyRequestsError(
        f"{what}; please retry", code="too_many_replays", headers=RETRY_LATER
    )
