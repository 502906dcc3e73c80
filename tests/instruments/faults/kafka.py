"""Kafka is killed, or frozen with its sockets open; the API must not notice."""

import asyncio
from random import Random

from tests.instruments.faults.stage import Stage


async def broker_killed(stage: Stage, random: Random) -> None:
    assert stage.broker is not None
    stage.counts["kill kafka"] += 1
    stage.broker.kill()
    await asyncio.sleep(random.uniform(0, 2))
    await stage.broker.start_aside()


async def broker_paused(stage: Stage, random: Random) -> None:
    assert stage.broker is not None
    stage.counts["pause kafka"] += 1
    with stage.broker.paused():
        await asyncio.sleep(random.uniform(0.5, 6))
