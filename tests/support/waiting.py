"""Waiting for what another task, process or server will do."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any, TypeVar, overload

Found = TypeVar("Found")
# Far beyond what a busy machine needs.
TIMEOUT_S = 60.0
STEP_S = 0.02


@overload
async def until(
    condition: Callable[[], Awaitable[Found]],
    *,
    timeout_s: float = ...,
    step_s: float = ...,
) -> Found: ...
@overload
async def until(
    condition: Callable[[], Found], *, timeout_s: float = ..., step_s: float = ...
) -> Found: ...
async def until(
    condition: Callable[[], Any],
    *,
    timeout_s: float = TIMEOUT_S,
    step_s: float = STEP_S,
) -> Any:
    """Return what a condition gives, asked again and again until it is true.

    :raises TimeoutError: it stays false
    """
    async with asyncio.timeout(timeout_s):
        while True:
            found = condition()
            if isawaitable(found):
                found = await found
            if found:
                return found
            await asyncio.sleep(step_s)


async def until_done(
    action: Callable[[], Awaitable[Found]],
    *errors: type[Exception],
    timeout_s: float = TIMEOUT_S,
) -> Found:
    """Return what an action gives, repeated while it raises one of the errors.

    :raises TimeoutError: it still does
    """
    async with asyncio.timeout(timeout_s):
        while True:
            try:
                return await action()
            except errors:
                await asyncio.sleep(STEP_S)


def until_blocking(
    condition: Callable[[], Found], *, timeout_s: float = TIMEOUT_S
) -> Found:
    """Do the same without an event loop."""
    deadline = time.monotonic() + timeout_s
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(STEP_S)
    return found
