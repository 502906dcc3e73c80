"""Run a command until it is durable, refused, or has lost too many races."""

from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from service.errors import ConflictError, ServiceError
from service.event_log.append import Appended, Receipt, VersionConflictError
from service.event_log.log import EventLog
from service.event_log.unit_of_work import UnitOfWork

ATTEMPTS_MAX = 12

Result = TypeVar("Result")
Decide = Callable[[UnitOfWork], Awaitable[Result]]


async def execute(
    log: EventLog,
    decide: Decide[Result],
    *,
    metadata: Mapping[str, str],
    at: datetime,
    if_match: int | None = None,
    receipt: Callable[[Result], Receipt] | None = None,
) -> tuple[Result, Appended | None]:
    """Decide on fresh facts and append; rerun the decision when a fact has moved.

    A refusal, or a decision to change nothing, counts only if its facts still
    stand: they could come from a cache that another process has outrun.

    :returns: the decision's result, and None when nothing was appended
    :raises ServiceError: the decision's refusal
    :raises ConflictError: when the command lost the race too many times
    :raises AlreadyAnsweredError: when the receipt's key has been used
    """
    contended: UUID | None = None
    for _ in range(ATTEMPTS_MAX):
        work = UnitOfWork(log, metadata=metadata, at=at, if_match=if_match)
        async with AsyncExitStack() as stack:
            if contended is not None:
                await stack.enter_async_context(log.turn(contended))
            try:
                result = await decide(work)
            except ServiceError:
                if await log.moved(work.reads):
                    continue
                raise
            kept = receipt(result) if receipt else None
            if not work.changed and await log.moved(work.reads):
                continue
            if not work.changed and kept is None:
                return result, None
            try:
                return result, await log.append(work.to_append(kept))
            except VersionConflictError:
                contended = next(iter(work.written), None)
                await log.moved(work.reads)
    raise ConflictError(
        "others changed the same thing again and again; try once more",
        code="too_many_conflicts",
        headers={"Retry-After": "1"},
    )
