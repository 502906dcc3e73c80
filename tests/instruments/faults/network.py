"""The connections between the API and PostgreSQL are lost, or only seem to stand."""

import asyncio
from random import Random

from tests.instruments.faults.stage import Stage
from tests.support.postgres_proxy import Fault

# A stalled connection is given up after six seconds; the others at once.
QUICK = [each for each in Fault if "STALL" not in each.name]
STALLED = [each for each in Fault if "STALL" in each.name]


async def commits_lost(stage: Stage, random: Random) -> None:
    """Cut the connection around one commit after the other."""
    for _ in range(random.randint(5, 15)):
        await _strike(stage, random.choice(QUICK))


async def commit_stalled(stage: Stage, random: Random) -> None:
    """Keep back a commit, or its reply, on a connection that stays open."""
    await _strike(stage, random.choice(STALLED))
    await asyncio.sleep(random.uniform(0.5, 7))
    stage.proxy.late.set()
    stage.proxy.late.clear()


async def half_open(stage: Stage, random: Random) -> None:
    """Let nothing through, and let everyone think that the connections stand."""
    stage.counts["half-open"] += 1
    stage.proxy.forwards.clear()
    try:
        await asyncio.sleep(random.uniform(1, 9))
    finally:
        stage.proxy.forwards.set()


async def database_away(stage: Stage, random: Random) -> None:
    """Cut off everyone from the database for some time."""
    stage.counts["cut off"] += 1
    stage.proxy.go_away()
    await asyncio.sleep(random.uniform(0.2, 3))
    stage.proxy.come_back()


async def _strike(stage: Stage, fault: Fault) -> None:
    stage.counts[f"lost commit: {fault.name.lower()}"] += 1
    stage.proxy.struck.clear()
    stage.proxy.fault = fault
    async with asyncio.timeout(30):
        await stage.proxy.struck.wait()
