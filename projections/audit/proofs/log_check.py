"""Compare the whole log with its tree, repeatedly, in the background.

PostgreSQL hashes the events, at a bounded rate, so that neither the event loop nor
other statements wait for it.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

import psycopg
from prometheus_client import Counter, Gauge

from projections.audit.proofs.contradictions import (
    Contradiction,
    contradictions_between,
    described,
    ends_apart,
    tree_of,
)
from projections.audit.proofs.log_time import LogTime
from service.database import TRY_ADVISORY_LOCK, Db, connect, deadline
from service.outages import Outage, cause_of
from service.tasks import background_task, end_tasks

# A pass over a short log takes this long per thousand positions; over a long one, as
# long as the setting says.
STEP_S: Final = 1.0
STEP_POSITIONS_MIN: Final = 1000
STATEMENT_POSITIONS: Final = 1000
PASS_PAUSE_S: Final = 10.0
STANDBY_S: Final = 5.0
RETRY_S: Final = 2.0
STEP_TIMEOUT_S: Final = 30.0
FINDINGS_KEPT_MAX: Final = 100

LOCK: Final = "agent-runtime log check"
STATE = "SELECT epoch, position FROM read.log_check"
KNOWN = """
    SELECT c.contradiction IS NOT NULL
      FROM read.log_check c JOIN events.head h USING (epoch)
"""
BEGIN = """
    UPDATE read.log_check
       SET contradiction = CASE WHEN epoch = %(epoch)s THEN contradiction END,
           epoch = %(epoch)s, position = 0, is_clean = true
"""
ADVANCE = "UPDATE read.log_check SET position = %s"
FOUND = "UPDATE read.log_check SET contradiction = %s, is_clean = false"
COMPLETE = """
    UPDATE read.log_check
       SET completed_at = CASE WHEN is_clean THEN now() ELSE completed_at END,
           contradiction = CASE WHEN is_clean THEN NULL ELSE contradiction END
    RETURNING is_clean
"""

POSITION = Gauge(
    "agent_runtime_log_check_position",
    "Last position compared with the Merkle tree in this pass over the log, by this "
    "process.",
)
PASSES = Counter(
    "agent_runtime_log_check_passes", "Passes over the whole log that were completed."
)
CONTRADICTED = Gauge(
    "agent_runtime_log_check_contradicted",
    "1 while events of the log are known to be missing or changed; /readyz and the "
    "service's log name them.",
)

logger = logging.getLogger(__name__)


class LogCheck:
    """Compares the log with its tree, in passes from the first position to the last.

    One process does it at a time, by an advisory lock; where it was is saved, so that
    restarts don't keep it from the log's end. ``pass_s`` is the time within which a
    pass ends, however long the log is.
    """

    def __init__(
        self,
        conninfo: str,
        *,
        pass_s: float,
        step_s: float = STEP_S,
        pause_s: float = PASS_PAUSE_S,
    ) -> None:
        self._conninfo = conninfo
        self._pass_s = pass_s
        self._step_s = step_s
        self._pause_s = pause_s
        self._found: list[Contradiction] = []
        # The next pass begins at the first event, though the log has grown meanwhile.
        self._is_complete = False
        self._time = LogTime()
        self._outage = Outage()

    async def run(self) -> None:
        """Compare until cancelled; reconnect, stand by and retry as needed."""
        while True:
            try:
                async with await connect(self._conninfo) as db:
                    while not await _is_leader(db):
                        self._stand_by()
                        await asyncio.sleep(STANDBY_S)
                    await self._take_over(db)
                    while True:
                        with deadline(db, STEP_TIMEOUT_S):
                            is_complete = await self.step(db)
                        self._outage.has_ended()
                        await asyncio.sleep(
                            self._pause_s if is_complete else self._step_s
                        )
            except (psycopg.Error, OSError) as error:
                level = self._outage.level(cause_of(error))
                logger.log(level, "comparing the log was interrupted", exc_info=error)
                await asyncio.sleep(RETRY_S)

    def _stand_by(self) -> None:
        """Report nothing: what this process has found may have been mended since."""
        CONTRADICTED.set(0)
        self._time.forget()

    async def _take_over(self, db: Db) -> None:
        """Report what is known already: the pass that finds it again may take hours."""
        row = await (await db.execute(KNOWN)).fetchone()
        CONTRADICTED.set(bool(row and row[0]))

    async def step(self, db: Db) -> bool:
        """Compare the next positions; return whether that ends a pass."""
        await self._time.measure(db)
        tree = await tree_of(db)
        row = await (await db.execute(STATE)).fetchone()
        assert row is not None
        epoch, position = row
        if self._is_complete or epoch != tree.epoch or position >= tree.size:
            await db.execute(BEGIN, {"epoch": tree.epoch})
            self._is_complete = False
            self._found.clear()
            position = 0
        if tree.head < tree.size:
            await self._report(db, [Contradiction("missing", tree.head + 1, tree.size)])
        await self._report(db, await ends_apart(db))
        steps = max(self._pass_s / self._step_s, 1)
        count = max(STEP_POSITIONS_MIN, int(tree.size / steps) + 1)
        upto = min(tree.size, position + count)
        while position < upto:
            until = min(upto, position + STATEMENT_POSITIONS)
            found = await contradictions_between(db, after=position, upto=until)
            await self._report(db, found)
            position = until
            await db.execute(ADVANCE, [position])
            POSITION.set(position)
        return position == tree.size and await self._complete(db)

    async def _report(self, db: Db, found: Sequence[Contradiction]) -> None:
        fresh = [each for each in found if each not in self._found]
        if not fresh:
            return
        self._found = [*self._found, *fresh][:FINDINGS_KEPT_MAX]
        CONTRADICTED.set(1)
        text = described(self._found)
        logger.critical("the log doesn't match its Merkle tree: %s", text)
        await db.execute(FOUND, [text])

    async def _complete(self, db: Db) -> bool:
        row = await (await db.execute(COMPLETE)).fetchone()
        assert row is not None
        self._is_complete = True
        CONTRADICTED.set(not row[0])
        PASSES.inc()
        return True


async def _is_leader(db: Db) -> bool:
    row = await (await db.execute(TRY_ADVISORY_LOCK, [LOCK])).fetchone()
    return bool(row and row[0])


@asynccontextmanager
async def run_log_check(conninfo: str, *, pass_s: float) -> AsyncIterator[LogCheck]:
    """Compare the log with its tree until the block ends."""
    check = LogCheck(conninfo, pass_s=pass_s)
    task = background_task(check.run, name="log check")
    try:
        yield check
    finally:
        await end_tasks(task)
