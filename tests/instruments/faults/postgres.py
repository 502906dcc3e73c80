"""PostgreSQL is killed, restarted or starved of its disk's promises."""

import asyncio
import os
import signal
from random import Random

from tests.instruments.faults.stage import Stage
from tests.support.harness.process_tree import children


async def killed(stage: Stage, random: Random) -> None:
    """Kill all of PostgreSQL somewhere in its commits."""
    await asyncio.sleep(random.uniform(0, 0.3))
    stage.kill_postgres()
    stage.start_postgres()


async def backend_killed(stage: Stage, random: Random) -> None:
    """Kill one server process: PostgreSQL ends all of them, recovers and goes on."""
    victims = list(children(stage.server.pid))
    stage.counts["kill postgres backend"] += 1
    os.kill(random.choice(victims), signal.SIGKILL)
    await asyncio.sleep(random.uniform(0, 0.5))


async def paused(stage: Stage, random: Random) -> None:
    """Freeze all of PostgreSQL for longer than a command waits for its turn."""
    stage.counts["pause postgres"] += 1
    family = [stage.server.pid, *children(stage.server.pid)]
    for pid in family:
        os.kill(pid, signal.SIGSTOP)
    try:
        await asyncio.sleep(random.uniform(1, 7))
    finally:
        for pid in family:
            os.kill(pid, signal.SIGCONT)
