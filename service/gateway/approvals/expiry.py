"""Record the expiry of approvals when their time is over."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Final
from uuid import UUID

import psycopg

from service.database import message_of
from service.errors import ServiceError
from service.event_log.execute import execute
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.approvals.aggregate import Approvals
from service.outages import Outage, cause_of
from service.tasks import background_task, end_tasks

INTERVAL_S: Final = 1.0
SYSTEM: Final = {"actor": "system"}

OverdueApprovals = Callable[[datetime], Awaitable[Sequence[UUID]]]
"""Returns agents with approvals whose time was over, from a read table."""

logger = logging.getLogger(__name__)


class ApprovalExpiry:
    """Expires approvals, whichever process they were asked from.

    Decisions don't depend on it: they compute what has expired. Each process does it,
    and the first one to record an expiry leaves nothing for the others.
    """

    def __init__(self, log: CommandLog, overdue: OverdueApprovals) -> None:
        self._log = log
        self._overdue = overdue
        self._outage = Outage()

    async def run_once(self, at: datetime) -> None:
        """Expire what is due; what can't be recorded now is tried again."""
        try:
            for agent_id in await self._overdue(at):
                decide = partial(_expire, agent_id)
                await execute(self._log, decide, metadata=SYSTEM, at=at)
            self._outage.has_ended()
        except (ServiceError, psycopg.Error, OSError) as error:
            level = self._outage.level(cause_of(error))
            logger.log(level, "approvals didn't expire yet: %s", message_of(error))


async def _expire(agent_id: UUID, work: UnitOfWork) -> None:
    approvals = await work.find(Approvals, Approvals.id_for(agent_id))
    if approvals is None or not (overdue := approvals.overdue(work.at)):
        return
    for each in overdue:
        approvals.expire(each)
    work.save(approvals)


@asynccontextmanager
async def expiring_approvals(expiry: ApprovalExpiry) -> AsyncIterator[None]:
    """Expire approvals in the background until the block ends."""

    async def keep_expiring() -> None:
        while True:
            await asyncio.sleep(INTERVAL_S)
            await expiry.run_once(datetime.now(UTC))

    task = background_task(keep_expiring, name="approval expiry")
    try:
        yield
    finally:
        await end_tasks(task)
