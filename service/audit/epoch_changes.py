"""Record each change of the log epoch as an event, exactly once."""

from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from prometheus_client import Gauge

from service.audit.aggregate import EpochChange
from service.database import Pool
from service.event_log.execute import execute
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork

SYSTEM: Final[Mapping[str, str]] = {"actor": "system"}
CHANGES = """
    SELECT c.epoch, c.old_epoch, c.position, c.reason,
           (SELECT min(recorded_at) FROM events.stored_event
             WHERE originator_id = c.epoch)
      FROM events.epoch_change c
     ORDER BY c.changed_at
"""
EPOCH_CHANGES = Gauge(
    "agent_runtime_log_epoch_changes",
    "New epochs of the log, by restores and fail-overs.",
)
# Not their number: a backup that is restored may have fewer than there were.
CHANGED_AT = Gauge(
    "agent_runtime_log_epoch_changed_timestamp_seconds",
    "When the service recorded the log's last new epoch, in Unix time; 0 if there was "
    "none.",
)

NewestSigned = Callable[[UUID], Awaitable[tuple[int, str] | None]]


async def record_epoch_changes(
    log: CommandLog,
    pool: Pool,
    newest_signed: NewestSigned,
) -> None:
    """Append the event of each change of the epoch that has none yet.

    The new epoch is the aggregate's id, so that of several processes one appends it.
    ``newest_signed`` returns size and root of an epoch's newest checkpoint.
    """
    async with pool.connection() as db:
        changes = await (await db.execute(CHANGES)).fetchall()
    EPOCH_CHANGES.set(len(changes))
    for epoch, old_epoch, position, reason, recorded_at in changes:
        CHANGED_AT.set((recorded_at or datetime.now(UTC)).timestamp())
        if recorded_at is None:
            size, root = await newest_signed(old_epoch) or (None, None)
            await _append(
                log,
                old_epoch=str(old_epoch),
                new_epoch=str(epoch),
                position=position,
                reason=reason,
                signed_size=size,
                signed_root=root,
            )


async def _append(log: CommandLog, *, new_epoch: str, **change: Any) -> None:
    async def decide(work: UnitOfWork) -> None:
        if await work.find(EpochChange, EpochChange.create_id(new_epoch)) is None:
            work.save(EpochChange(new_epoch=new_epoch, **change))

    await execute(log, decide, metadata=SYSTEM, at=datetime.now(UTC))
