"""What makes another machine the primary, and how the service comes through."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from random import Random

from tests.instruments.faults.failover.machine import Machine
from tests.instruments.faults.failover.stage import STEP_S, FailoverStage
from tests.instruments.faults.run import Run
from tests.support.waiting import until

# Ceilings, on a quiet machine; multiplied by how much slower this one is.
FAILOVER_TIMEOUT_S = 180.0
WHOLE_TIMEOUT_S = 300.0
ACKNOWLEDGED = 20
HELD_MAX_S = 5.0

Fault = Callable[[FailoverStage, Machine], AbstractAsyncContextManager[None]]


@asynccontextmanager
async def postgres_killed(
    _stage: FailoverStage, primary: Machine
) -> AsyncIterator[None]:
    """PostgreSQL crashes; its Patroni starts it again."""
    primary.kill_postgres()
    yield


@asynccontextmanager
async def machine_lost(_stage: FailoverStage, primary: Machine) -> AsyncIterator[None]:
    """The whole machine ends, and is started again when another one leads."""
    primary.kill()
    try:
        yield
    finally:
        primary.start()


@asynccontextmanager
async def machine_frozen(
    _stage: FailoverStage, primary: Machine
) -> AsyncIterator[None]:
    """The machine stands still, and wakes up as a primary beside the new one."""
    primary.freeze()
    try:
        yield
    finally:
        primary.thaw()


@asynccontextmanager
async def machine_cut_off(
    stage: FailoverStage, primary: Machine
) -> AsyncIterator[None]:
    """The primary loses etcd, the standbys and the service, and they lose it."""
    network = stage.cluster.network
    network.cut(*primary.links)
    try:
        yield
    finally:
        network.mend(*primary.links)


@asynccontextmanager
async def switched_over(stage: FailoverStage, primary: Machine) -> AsyncIterator[None]:
    """An operator makes a standby the primary."""
    await asyncio.to_thread(
        stage.cluster.patronictl, "switchover", "--leader", primary.name, "--force"
    )
    yield


FAULTS: dict[Fault, int] = {
    postgres_killed: 4,
    switched_over: 4,
    machine_lost: 2,
    machine_frozen: 1,
    machine_cut_off: 1,
}
"""How often a long run draws each."""
LASTING = (machine_lost, machine_frozen, machine_cut_off)
"""Those that go on until they are ended."""


async def fail_over(run: Run[FailoverStage], fault: Fault, random: Random) -> float:
    """Strike the primary; return the longest time without an acknowledgement.

    Expects another primary while the fault lasts, and a whole cluster after it.
    """
    stage, load, name = run.stage, run.load, fault.__name__
    old = await stage.primary()
    stage.counts[name] += 1
    failover_s = FAILOVER_TIMEOUT_S * stage.slowness
    load.longest_gap_s = 0.0
    try:
        async with fault(stage, old):
            await until(
                lambda: asyncio.to_thread(_is_replaced, stage, old),
                timeout_s=failover_s,
                step_s=STEP_S,
            )
            await load.until_acknowledged(ACKNOWLEDGED, timeout_s=failover_s)
            gap_s = load.longest_gap_s
            if fault in LASTING:
                await asyncio.sleep(random.uniform(0, HELD_MAX_S))
        await stage.recover(timeout_s=WHOLE_TIMEOUT_S * stage.slowness)
        await load.until_acknowledged(ACKNOWLEDGED, timeout_s=failover_s)
    except (TimeoutError, AssertionError) as error:
        run.findings.add(f"not well after {name} of {old.name}: {error}")
        return failover_s
    run.recoveries.setdefault(name, []).append(gap_s)
    return gap_s


def _is_replaced(stage: FailoverStage, old: Machine) -> bool:
    return any(each.is_primary for each in stage.cluster.machines if each is not old)
