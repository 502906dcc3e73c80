"""Long computations on the event loop, with room for other tasks in between."""

import asyncio
import time
from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

HOLD_S: Final = 0.01
# So many take some milliseconds.
INLINE_ITEMS_MAX: Final = 100

P = ParamSpec("P")
T = TypeVar("T")


class Pace:
    """Gives the event loop back whenever it has been held for ``HOLD_S``.

    Call :meth:`pause` in a loop: it costs next to nothing while time is left.
    """

    def __init__(self) -> None:
        self._until = time.perf_counter() + HOLD_S

    async def pause(self) -> None:
        if time.perf_counter() > self._until:
            await asyncio.sleep(0)
            self._until = time.perf_counter() + HOLD_S


async def computed(
    items: int, function: Callable[P, T], *arguments: P.args, **named: P.kwargs
) -> T:
    """Call a pure function, in a thread if it has more than a few items to work on."""
    if items <= INLINE_ITEMS_MAX:
        return function(*arguments, **named)
    return await asyncio.to_thread(function, *arguments, **named)
