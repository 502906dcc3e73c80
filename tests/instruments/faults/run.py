"""A run: write all the while, do harm, mend, and check in the end."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any, Generic, TypeVar

from tests.instruments.faults.checks import Findings
from tests.instruments.faults.checks.answers import check_answers
from tests.instruments.faults.checks.audit import check_audit
from tests.instruments.faults.checks.canaries import check_canaries
from tests.instruments.faults.checks.recorded import read_log
from tests.instruments.faults.checks.tables import check_tables, until_caught_up
from tests.instruments.faults.checks.topic import check_topic
from tests.instruments.faults.history import History, read_history
from tests.instruments.faults.running_service import RunningService
from tests.instruments.faults.stage import Stage
from tests.instruments.faults.workload import Workload
from tests.instruments.faults.world import CANARY

S = TypeVar("S", bound=RunningService)
Strike = Callable[[Stage, Random], Awaitable[None]]

READY_BOUND_S = 15.0
"""Within it after a fault, each process is ready and writes are acknowledged.

This and the other bounds hold where the stage's processes start in ``QUIET_START_S``.
Where they take longer, the bounds grow in proportion: a busy machine is no fault.
"""
ANSWER_BOUND_S = 30.0
SETTLE_BOUND_S = 60.0


@dataclass(slots=True)
class Run(Generic[S]):
    """``recoveries`` are the seconds from each fault's end until all was well."""

    stage: S
    load: Workload
    random: Random
    findings: Findings = field(default_factory=Findings)
    recoveries: dict[str, list[float]] = field(default_factory=dict)
    ready_bound_s: float = READY_BOUND_S

    async def strike(self, fault: Callable[[S, Random], Awaitable[None]]) -> None:
        """Do harm, and expect everything well within the bound."""
        name = fault.__name__
        await fault(self.stage, self.random)
        started = time.monotonic()
        bound_s = self.ready_bound_s * self.stage.slowness
        try:
            await self.stage.recover(timeout_s=bound_s)
            await self.load.until_acknowledged(20, timeout_s=bound_s)
        except TimeoutError as error:
            self.findings.add(f"not well {bound_s:.0f} s after {name}: {error}")
        self.recoveries.setdefault(name, []).append(time.monotonic() - started)


@asynccontextmanager
async def running(
    stage: S, *, seed: int, clients: int = 24, pause_s: float = 0.0
) -> AsyncIterator[Run[S]]:
    """Let clients write until the block ends, and then let every write end."""
    with History(stage.folder / "history.jsonl") as history:
        load = Workload(
            stage.ports,
            stage.world,
            history,
            seed=seed,
            clients=clients,
            pause_s=pause_s,
        )
        await load.prepare()
        writing = asyncio.create_task(load.run())
        run = Run(stage, load, Random(seed))
        try:
            yield run
        finally:
            load.stopping = True
            await writing
            for words in [*load.surprises, *stage.surprises]:
                run.findings.add(words)
            if load.slowest_s > ANSWER_BOUND_S * stage.slowness:
                run.findings.add(f"an answer took {load.slowest_s:.1f} s")


async def check(
    run: Run[Any], *, with_audit: bool = True, settle_s: float = SETTLE_BOUND_S
) -> Findings:
    """Check everything, once nobody writes any more.

    The followers are ended on the way: a rebuild is compared with what they left.
    """
    stage: RunningService = run.stage
    findings = run.findings
    settle_s *= stage.slowness
    log = await asyncio.to_thread(read_log, stage.url, stage.world, findings)
    await asyncio.to_thread(
        check_answers, read_history(run.load.history.file), log, findings
    )
    if stage.relays:
        await check_topic(stage, findings, timeout_s=settle_s)
    if stage.followers:
        await until_caught_up(
            stage.url, findings, timeout_s=max(settle_s, log.positions / 2000)
        )
        if with_audit:
            # Signed every five seconds, also what was written last.
            await asyncio.sleep(6)
            await asyncio.to_thread(
                check_audit, stage.url, stage.data, stage.folder, findings
            )
        for each in stage.followers:
            each.kill()
        await check_tables(stage.url, findings)
    check_canaries(stage.places, [CANARY, *stage.world.tokens], findings)
    return findings
