"""Follower status and lag, and waiting until a position is applied."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from prometheus_client import Gauge

from service.database import Db, Pool
from service.errors import RETRY_LATER, PreconditionFailedError, UnavailableError
from service.event_log.read_replica import ReadReplica, ReadServer

WAIT_STEP_S = 0.005
WAIT_STEP_MAX_S = 0.1

State = Literal[
    "starting", "following", "standby", "rebuilding", "interrupted", "stopped"
]

POSITION = Gauge(
    "agent_runtime_follower_position",
    "Last position applied, also in a process that stands by.",
    ["follower"],
)
LAG = Gauge(
    "agent_runtime_follower_lag_events", "Events not yet applied.", ["follower"]
)
STOPPED = Gauge(
    "agent_runtime_follower_stopped",
    "1 while a follower has stopped on an error.",
    ["follower"],
)

POSITIONS = """
    SELECT follower, position, reason FROM read.position ORDER BY follower
"""
# What was built from the log of another epoch reflects nothing of this one.
APPLIED = """
    SELECT CASE WHEN count(p) = %(followers)s
                THEN coalesce(min(CASE WHEN p.epoch <> h.epoch THEN 0
                                       ELSE p.position END), h.position) END,
           h.position
      FROM events.head h
      LEFT JOIN read.position p ON p.follower = ANY (%(names)s)
     GROUP BY h.position, h.epoch
"""


@dataclass(slots=True)
class FollowerStatus:
    """The state of a follower of this process."""

    name: str
    state: State = "starting"
    position: int = 0
    head: int = 0
    reason: str | None = None

    def report(self) -> None:
        POSITION.labels(self.name).set(self.position)
        LAG.labels(self.name).set(max(self.head - self.position, 0))
        STOPPED.labels(self.name).set(self.state == "stopped")


async def applied_position(db: Db, followers: Sequence[str]) -> tuple[int | None, int]:
    """Return the last position that all of the followers have applied, and the log's.

    Without followers both are the log's; None if one of them has never run.
    """
    asked = {"names": list(followers), "followers": len(followers)}
    row = await (await db.execute(APPLIED, asked)).fetchone()
    assert row is not None
    return row[0], row[1]


async def wait_for_position(
    server: Pool | ReadServer,
    followers: Sequence[str],
    position: int,
    *,
    timeout_s: float,
) -> None:
    """Return once all of the named followers have applied a position.

    :raises PreconditionFailedError: the log has not reached the position: it is of
        another log, or made up; a replica can't tell that
    :raises UnavailableError: they did not apply it within ``timeout_s``
    """
    deadline = asyncio.get_running_loop().time() + timeout_s
    step_s = WAIT_STEP_S
    while True:
        async with server.connection() as db:
            applied, head = await applied_position(db, followers)
        if applied is not None and applied >= position:
            return
        if position > head and not isinstance(server, ReadReplica):
            raise PreconditionFailedError(
                f"the log ends at position {head}", code="position_beyond_log"
            )
        if asyncio.get_running_loop().time() > deadline:
            raise UnavailableError(
                f"what is read here has not reached position {position} within "
                f"{timeout_s:g} s; please retry",
                code="position_not_reached",
                headers=RETRY_LATER,
            )
        await asyncio.sleep(step_s)
        step_s = min(step_s * 1.5, WAIT_STEP_MAX_S)
