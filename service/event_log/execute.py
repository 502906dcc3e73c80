"""Run a command until it is durable or refused; retry after version conflicts."""

import asyncio
import random
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import datetime
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

from service.errors import RETRY_LATER, ConflictError, ServiceError
from service.event_log.append import Appended, Receipt, VersionConflictError
from service.event_log.pending import BaseFailedError, OvertakenError
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.principal import Principal
from service.spans import deciding

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

    A decision may rest on what other commands are about to write; then it fails with
    them, and is made again. A refusal, or a decision to change nothing, counts only if
    the versions that it read are current: they could come from a stale cache. One that
    rests on pending commands is checked by the log after them, like a change.

    ``principal`` is who calls, as read before; each further attempt, or also the
    first without it, reads the caller afresh with ``authenticate``. A command of
    the system has neither.

    :returns: the decision's result, and None when nothing was appended
    :raises ServiceError: the decision's refusal
    :raises ConflictError: after too many version conflicts, or too long
    :raises AlreadyAnsweredError: when the receipt's key has been used
    """
    contended: UUID | None = None
    give_up = time.monotonic() + log.wait_s
    for attempt in range(ATTEMPTS_MAX):
        if attempt and time.monotonic() > give_up:
            break
        if authenticate is not None and (attempt or principal is None):
            principal = await authenticate()
        work = UnitOfWork(
            log,
            metadata=metadata,
            at=at,
            principal=principal,
            if_match=if_match,
            pending=log.pending,
        )
        try:
            if contended is None:
                decided = await _decide(log, decide, work, receipt, has_lock=False)
            else:
                # Not until the commit: the next command may rest on this one.
                async with log.lock(contended):
                    decided = await _decide(log, decide, work, receipt, has_lock=True)
            appended = None
            if decided.submitted is not None:
                appended = await _outcome(log, work, decided.submitted)
        except _StaleError as stale:
            contended = stale.contended or contended
        else:
            if decided.refusal is not None:
                raise decided.refusal
            return decided.result, None if decided.is_check else appended
        if attempt > ATTEMPTS_AT_ONCE:
            # The commands that win are those of other processes.
            await asyncio.sleep(random.uniform(0, BACKOFF_MAX_S))  # noqa: S311 # no secret
    raise ConflictError(
        "too many concurrent changes to this resource; please retry",
        code="too_many_conflicts",
        headers=RETRY_LATER,
    )


class _StaleError(Exception):
    """The decision read a version that isn't current, so it has to be rerun.

    ``contended`` is the aggregate whose lock to wait for.
    """

    def __init__(self, contended: UUID | None = None) -> None:
        super().__init__("facts have moved")
        self.contended = contended


class _Decided(NamedTuple):
    """A decision, and what it has submitted to the log, if anything.

    ``is_check``: it appends nothing, and counts if what it has read stands.
    """

    result: Any = None
    refusal: ServiceError | None = None
    submitted: Awaitable[Appended] | None = None
    is_check: bool = False


async def _decide(
    log: CommandLog,
    decide: Decide[Result],
    work: UnitOfWork,
    receipt: Callable[[Result], Receipt] | None,
    *,
    has_lock: bool,
) -> _Decided:
    try:
        with deciding():
            result = await decide(work)
    except ServiceError as refusal:
        if work.bases:
            return _Decided(None, refusal, _check(log, work), is_check=True)
        if await log.moved(work.reads):
            raise _StaleError from None
        raise
    if not work.changed and not work.bases and await log.moved(work.reads):
        raise _StaleError
    kept = receipt(result) if receipt else None
    if not work.changed and kept is None:
        if work.bases:
            return _Decided(result, None, _check(log, work), is_check=True)
        # "It is so already" acknowledges what others have committed.
        await log.confirm()
        return _Decided(result)
    if not has_lock:
        wanted = next(filter(log.is_contended, work.written), None)
        if wanted is not None:
            # A command that doesn't wait for the lock would overtake those that do.
            raise _StaleError(wanted)
    return _Decided(result, None, log.submit(work.to_append(kept), work.bases))


def _check(log: CommandLog, work: UnitOfWork) -> Awaitable[Appended]:
    """Have the log check what was read, behind the commands that the decision rests on.

    By the time that these are durable, others have moved a hot aggregate on.
    """
    return log.submit(work.to_check(), work.bases)


async def _outcome(
    log: CommandLog, work: UnitOfWork, submitted: Awaitable[Appended]
) -> Appended:
    try:
        return await submitted
    except BaseFailedError:
        raise _StaleError(next(iter([*work.written, *work.bases]))) from None
    except OvertakenError as overtaken:
        if work.is_of_caller(overtaken.aggregate_id):
            # Callers are authenticated from what has been committed.
            await overtaken.writer.ended()
            raise _StaleError from None
        raise _StaleError(overtaken.aggregate_id) from None
    except VersionConflictError:
        moved = await log.moved(work.reads)
        raise _StaleError(_contended(moved, work)) from None


def _contended(moved: list[UUID], work: UnitOfWork) -> UUID | None:
    """Choose whose lock to wait for: preferably one that the command writes."""
    both = [aggregate_id for aggregate_id in work.written if aggregate_id in moved]
    return next(iter(both or moved or work.written), None)
