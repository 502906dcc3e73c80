"""Wait for a person's answer to an approval."""

import asyncio
import contextlib
from datetime import UTC, datetime
from typing import Final
from uuid import UUID

from service.connection_pool import PoolBusyError
from service.event_log.log import EventLog
from service.gateway.approvals.aggregate import Approvals
from service.gateway.approvals.entries import ApprovalState

ANSWER_POLL_S: Final = 1.0


async def wait_for_answer(
    log: EventLog, agent_id: UUID, approval_id: UUID, timeout_s: float
) -> bool:
    """Return once an approval isn't pending any more; False after the timeout."""
    approvals_id = Approvals.id_for(agent_id)
    clock = asyncio.get_running_loop().time
    until = clock() + timeout_s
    with log.notifier.subscribe() as committed:
        while await _is_pending(log, approvals_id, approval_id):
            left = until - clock()
            if left <= 0:
                return False
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(left, ANSWER_POLL_S)):
                    await committed.wait()
            committed.clear()
    return True


async def _is_pending(log: EventLog, approvals_id: UUID, approval_id: UUID) -> bool:
    try:
        approvals = await log.load(approvals_id)
    except PoolBusyError:
        # It is asked again, as long as its call is held.
        return True
    return (
        isinstance(approvals, Approvals)
        and approvals.state_of(approval_id, datetime.now(UTC)) is ApprovalState.PENDING
    )
