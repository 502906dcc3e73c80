"""Processes of the service are killed, paused, starved and restarted."""

import asyncio
import resource
from random import Random

import psycopg

from tests.instruments.faults.program import Program
from tests.instruments.faults.stage import Stage

FILES_LEFT = 4


async def api_killed(stage: Stage, random: Random) -> None:
    await _killed(stage, random, stage.apis)


async def followers_killed(stage: Stage, random: Random) -> None:
    await _killed(stage, random, stage.followers)


async def relay_killed(stage: Stage, random: Random) -> None:
    await _killed(stage, random, stage.relays)


async def everything_killed(stage: Stage, random: Random) -> None:
    """Kill every process at once, the database too."""
    await asyncio.sleep(random.uniform(0, 0.3))
    for each in stage.programs:
        stage.kill(each)
    stage.kill_postgres()


async def api_paused(stage: Stage, random: Random) -> None:
    await _paused(stage, random, stage.apis)


async def followers_paused(stage: Stage, random: Random) -> None:
    """Pause one of two: if it leads, the other can't, for its lock is still held."""
    await _paused(stage, random, stage.followers)


async def relay_paused(stage: Stage, random: Random) -> None:
    await _paused(stage, random, stage.relays)


async def followers_replaced_while_paused(stage: Stage, random: Random) -> None:
    """Pause a leader, take its lock away, and let it wake up beside its successor."""
    await _replaced(stage, random, stage.followers)


async def relay_replaced_while_paused(stage: Stage, random: Random) -> None:
    await _replaced(stage, random, stage.relays)


async def api_terminated(stage: Stage, random: Random) -> None:
    """SIGTERM under load: requests under way are answered, and it ends with 0."""
    program = random.choice(stage.apis)
    stage.counts["terminate api"] += 1
    if status := await asyncio.to_thread(program.stop):
        stage.surprises.append(f"{program.name} ended with {status} at SIGTERM")


async def rolling_restart(stage: Stage, _random: Random) -> None:
    """Restart every process, one after the other, as for a new version."""
    for program in stage.programs:
        stage.counts["restart"] += 1
        if status := await asyncio.to_thread(program.stop):
            stage.surprises.append(f"{program.name} ended with {status} at SIGTERM")
        program.start()
        await program.ready(timeout_s=30 * stage.slowness)


async def no_file_descriptors(stage: Stage, random: Random) -> None:
    """Let an API open no further file or connection, for some time."""
    program = random.choice(stage.apis)
    stage.counts["no file descriptors"] += 1
    soft, hard = resource.prlimit(program.pid, resource.RLIMIT_NOFILE)
    # Below what is open already, so that nothing more can be.
    resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (FILES_LEFT, hard))
    await asyncio.sleep(random.uniform(1, 3))
    if program.is_running:
        resource.prlimit(program.pid, resource.RLIMIT_NOFILE, (soft, hard))
    if not program.is_running:
        stage.surprises.append(f"{program.name} ended without file descriptors")


async def _killed(stage: Stage, random: Random, programs: list[Program]) -> None:
    await asyncio.sleep(random.uniform(0, 0.3))
    stage.kill(random.choice(programs))


async def _paused(stage: Stage, random: Random, programs: list[Program]) -> None:
    program = random.choice(programs)
    stage.counts[f"pause {program.name.split('-')[0]}"] += 1
    program.pause()
    try:
        await asyncio.sleep(random.uniform(0.5, 4))
    finally:
        program.resume()


async def _replaced(stage: Stage, random: Random, programs: list[Program]) -> None:
    """End the database sessions of a paused process that hold advisory locks."""
    program = random.choice(programs)
    stage.counts[f"replace paused {program.name.split('-')[0]}"] += 1
    program.pause()
    try:
        with psycopg.connect(stage.url, autocommit=True) as db:
            db.execute("""
                SELECT pg_terminate_backend(pid, 1000)
                  FROM pg_locks WHERE locktype = 'advisory'""")
        await asyncio.sleep(random.uniform(1.5, 4))
    finally:
        program.resume()
