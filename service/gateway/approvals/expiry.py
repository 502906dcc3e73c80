"""Record the expiry of approvals when their time is over."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Final
from uuid import UUID

import psycopg

from service.errors import ServiceError
from service.event_log.execute import execute
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.approvals.aggregate import Approvals
from service.tasks import end_tasks

INTERVAL_S: Final = 1.0
AGENTS_MAX: Final = 10_000
SYSTEM: Final = {"actor": "system"}

logger = logging.getLogger(__name__)


class ApprovalExpiry:
    """Expires the approvals that this process has asked for.

    Those that another process asked for, or before a restart, expire all the same: that
    is computed at each decision, and recorded when their agent next asks.
    """

    def __init__(self, log: CommandLog) -> None:
        self._log = log
        self._expected: dict[UUID, datetime] = {}

    def expect(self, agent_id: UUID, until: datetime) -> None:
        """Look at an agent's approvals once one of them may have expired."""
        known = self._expected.get(agent_id)
        if known is not None or len(self._expected) < AGENTS_MAX:
            self._expected[agent_id] = min(known or until, until)

    async def run_once(self, at: datetime) -> None:
        """Expire what is due; what can't be recorded now is tried again."""
        due = [each for each, until in self._expected.items() if until <= at]
        for agent_id in due:
            decide = partial(_expire, agent_id, self)
            try:
                await execute(self._log, decide, metadata=SYSTEM, at=at)
            except (ServiceError, psycopg.Error) as error:
                reason = type(error).__name__
                logger.warning("approvals didn't expire yet", extra={"reason": reason})

    def settle(self, agent_id: UUID, approvals: Approvals | None) -> None:
        """Expect the next expiry of an agent, if it has open approvals."""
        self._expected.pop(agent_id, None)
        if approvals is not None and (until := approvals.next_expiry) is not None:
            self._expected[agent_id] = until


async def _expire(agent_id: UUID, expiry: ApprovalExpiry, work: UnitOfWork) -> None:
    approvals = await work.find(Approvals, Approvals.id_for(agent_id))
    if approvals is not None:
        for overdue in approvals.overdue(work.at):
            approvals.expire(overdue)
        work.save(approvals)
    expiry.settle(agent_id, approvals)


@asynccontextmanager
async def expiring_approvals(expiry: ApprovalExpiry) -> AsyncIterator[None]:
    """Expire approvals in the background until the block ends."""

    async def keep_expiring() -> None:
        while True:
            await asyncio.sleep(INTERVAL_S)
            await expiry.run_once(datetime.now(UTC))

    task = asyncio.create_task(keep_expiring(), name="approval expiry")
    try:
        yield
    finally:
        await end_tasks(task)
