"""The clock of the API's processes jumps; PostgreSQL's, which counts, does not."""

import asyncio
from random import Random

from tests.instruments.faults.stage import Stage

JUMPS = ("+3600", "-3600", "-31536000", "+31536000", "-0.5", "+7")
SEEN_S = 1.0


async def clock_jumps(stage: Stage, random: Random) -> None:
    """Jump an hour or a year, here and there, and come back to the true time."""
    for jump in random.sample(JUMPS, 3):
        stage.counts["clock jump"] += 1
        stage.clock.write_text(f"{jump}\n")
        await asyncio.sleep(SEEN_S)
    stage.clock.write_text("+0\n")
