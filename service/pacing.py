"""Long computations on the event loop, with room for other tasks in between.

Of the tasks that compute for long, one goes on at each turn of the event loop: twenty
that each take some milliseconds would together hold up everybody else's.
"""

import asyncio
import contextvars
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, ParamSpec, TypeVar
from weakref import WeakKeyDictionary

# Before a computation counts as long, and between two turns of its.
SHORT_S: Final = 0.002
HOLD_S: Final = 0.01
# So many take some milliseconds.
INLINE_ITEMS_MAX: Final = 100
INLINE_BYTES_MAX: Final = 32 * 1024
# They share one interpreter with the event loop: more would be no faster, and keep the
# loop waiting. With a second one, what is short needn't wait for what is long.
THREADS_MAX: Final = 2
_THREADS: Final = ThreadPoolExecutor(THREADS_MAX, thread_name_prefix="computation")

P = ParamSpec("P")
T = TypeVar("T")


class _Turns:
    """Those who wait for their turn: one of them at each turn of the event loop."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._is_scheduled = False

    def add(self) -> asyncio.Future[None]:
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        if not self._is_scheduled:
            self._schedule()
        return turn

    def _schedule(self) -> None:
        self._is_scheduled = True
        loop = asyncio.get_running_loop()
        # Two steps: what has become ready during the last turn goes before the next.
        loop.call_soon(loop.call_soon, self._next)

    def _next(self) -> None:
        self._is_scheduled = False
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                break
        if self._waiting:
            self._schedule()


_turns: WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = WeakKeyDictionary()


def next_turn() -> asyncio.Future[None]:
    """Return what is done at a turn of the event loop with no other long computation.

    To be awaited, or to have a callback that computes for long.
    """
    loop = asyncio.get_running_loop()
    turns = _turns.get(loop)
    if turns is None:
        turns = _turns[loop] = _Turns()
    return turns.add()


async def turn_for(size: int) -> None:
    """Wait for a turn of one's own, if the next step is on many bytes."""
    if size > INLINE_BYTES_MAX:
        await next_turn()


class Pace:
    """Gives the event loop back whenever it has been held for ``HOLD_S``.

    Call :meth:`pause` in a loop, before each step: it costs next to nothing while time
    is left. A step on many bytes, ``ahead``, has a turn of its own.
    """

    def __init__(self) -> None:
        self._until = time.perf_counter() + SHORT_S

    async def pause(self, ahead: int = 0) -> None:
        if ahead > INLINE_BYTES_MAX or time.perf_counter() > self._until:
            await next_turn()
            self._until = time.perf_counter() + HOLD_S


async def free(items: list[Any]) -> None:
    """Empty a list with room for other tasks: of thousands, freeing takes long."""
    pace = Pace()
    while items:
        await pace.pause()
        items.pop()


async def in_thread(
    function: Callable[P, T], *arguments: P.args, **named: P.kwargs
) -> T:
    """Call a pure function that computes for long in one of a few threads.

    What waits for a file or the network has ``asyncio.to_thread``: it needs a thread,
    but not the interpreter.
    """
    context = contextvars.copy_context()
    called = partial(context.run, function, *arguments, **named)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, called)


def take_apart(document: Any) -> None:
    """Empty a document of JSON, in a thread that lets others run in between."""
    left = [document]
    while left:
        value = left.pop()
        if isinstance(value, list):
            left.extend(value)
            value.clear()
        elif isinstance(value, dict):
            while value:
                left.append(value.popitem()[1])


async def computed(
    items: int, function: Callable[P, T], *arguments: P.args, **named: P.kwargs
) -> T:
    """Call a pure function, in a thread if it has more than a few items to work on."""
    if items <= INLINE_ITEMS_MAX:
        return function(*arguments, **named)
    return await in_thread(function, *arguments, **named)
