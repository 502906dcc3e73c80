"""Run a command until it is durable or refused; retry after version conflicts."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import TypeVar
from uuid import UUID

from service.errors import ConflictError, ServiceError
from service.event_log.append import Appended, Receipt, VersionConflictError
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.principal import Principal

ATTEMPTS_MAX = 20
ATTEMPTS_AT_ONCE = 4
BACKOFF_MAX_S = 0.05

Result = TypeVar("Result")
Decide = Callable[[UnitOfWork], Awaitable[Result]]
Authenticate = Callable[[], Awaitable[Principal]]


async def execute(
    log: CommandLog,
    decide: Decide[Result],
    *,
    metadata: Mapping[str, str],
    at: datetime,
    principal: Principal | None = None,
    authenticate: Authenticate | None = None,
    if_match: int | None = None,
    receipt: Callable[[Result], Receipt] | None = None,
) -> tuple[Result, Appended | None]:
    """Decide and append; rerun the decision when an aggregate that it read has moved.

    A refusal, or a decision to change nothing, counts only if the versions that it
    read are current: they could come from a stale cache.

    ``principal`` is who calls, as read before; each further attempt, or also the
    first without it, reads the caller afresh with ``authenticate``. A command of
    the system has neither.

    :returns: the decision's result, and None when nothing was appended
    :raises ServiceError: the decision's refusal
    :raises ConflictError: after too many version conflicts
    :raises AlreadyAnsweredError: when the receipt's key has been used
    """
    contended: UUID | None = None
    for attempt in range(ATTEMPTS_MAX):
        if authenticate is not None and (attempt or principal is None):
            principal = await authenticate()
        work = UnitOfWork(
            log, metadata=metadata, at=at, principal=principal, if_match=if_match
        )
        try:
            if contended is None:
                return await _attempt(log, decide, work, receipt, has_lock=False)
            async with log.lock(contended):
                return await _attempt(log, decide, work, receipt, has_lock=True)
        except _StaleError as stale:
            contended = stale.contended or contended
        if attempt > ATTEMPTS_AT_ONCE:
            # The commands that win are those of other processes.
            await asyncio.sleep(random.uniform(0, BACKOFF_MAX_S))  # noqa: S311 # no secret
    raise ConflictError(
        "too many concurrent changes to this resource; please retry",
        code="too_many_conflicts",
        headers={"Retry-After": "1"},
    )


class _StaleError(Exception):
    """The decision read a version that isn't current, so it has to be rerun.

    ``contended`` is the aggregate whose lock to wait for.
    """

    def __init__(self, contended: UUID | None = None) -> None:
        super().__init__("facts have moved")
        self.contended = contended


async def _attempt(
    log: CommandLog,
    decide: Decide[Result],
    work: UnitOfWork,
    receipt: Callable[[Result], Receipt] | None,
    *,
    has_lock: bool,
) -> tuple[Result, Appended | None]:
    try:
        result = await decide(work)
    except ServiceError:
        if await log.moved(work.reads):
            raise _StaleError from None
        raise
    if not work.changed and await log.moved(work.reads):
        raise _StaleError
    kept = receipt(result) if receipt else None
    if not work.changed and kept is None:
        # "It is so already" acknowledges what others have committed.
        await log.confirm()
        return result, None
    if not has_lock:
        wanted = next(filter(log.is_contended, work.written), None)
        if wanted is not None:
            # A command that doesn't wait for the lock would overtake those that do.
            raise _StaleError(wanted)
    try:
        return result, await log.append(work.to_append(kept))
    except VersionConflictError:
        moved = await log.moved(work.reads)
        raise _StaleError(_contended(moved, work)) from None


def _contended(moved: list[UUID], work: UnitOfWork) -> UUID | None:
    """Choose whose lock to wait for: preferably one that the command writes."""
    both = [aggregate_id for aggregate_id in work.written if aggregate_id in moved]
    return next(iter(both or moved or work.written), None)
