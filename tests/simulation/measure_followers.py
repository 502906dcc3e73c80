"""What the followers' steps take, over turns of sessions."""

import asyncio
import json
import time
from collections import defaultdict
from pathlib import Path
from uuid import uuid4

import psycopg

from projections.catalog import PROJECTORS, follower_conninfo
from projections.engine.follower import Follower
from projections.engine.projector import Projector
from service.database import connect
from service.resources import Resources, open_resources
from tests.bench import session_log
from tests.bench.relay import TURN
from tests.simulation.real import cpu_of
from tests.simulation.service_times import BatchTime, FollowerTime

SESSIONS = 1000
SIZES = (1, 30, 300, 1000)
EACH = 3
TURNS = """
    INSERT INTO events.stored_event (
           originator_id, originator_version, topic, state,
           notification_id, recorded_at, command_id, metadata)
    SELECT session.id, session.version + 1, 'session.turn_recorded',
           convert_to(replace(%(state)s, %(turn)s, md5(random()::text)), 'UTF8'),
           head.position + row_number() OVER (), now(), gen_random_uuid(),
           '{"actor": "00000000-0000-0000-0000-000000000001", "request_id": "r"}'
      FROM events.head,
           (SELECT originator_id AS id, max(originator_version) AS version
              FROM events.stored_event
             WHERE topic LIKE 'session.%%'
             GROUP BY originator_id LIMIT %(events)s) AS session
"""


async def follower_times(url: str, folder: Path) -> tuple[dict[str, FollowerTime], int]:
    """Time every follower's steps; return also where the log ends then."""
    session_log.write_sessions(url, sessions=SESSIONS, agent=uuid4())
    async with open_resources(url, folder) as resources:
        found = {
            each.name: await _follower_time(resources, each) for each in PROJECTORS
        }
        return found, (await resources.log.head()).position


async def _follower_time(resources: Resources, projector: Projector) -> FollowerTime:
    """Time the steps of a follower by their number of events."""
    conninfo = follower_conninfo(resources.database_url)
    follower = Follower(projector, resources.log, conninfo)
    cpu: dict[float, list[float]] = defaultdict(list)
    database: dict[float, list[float]] = defaultdict(list)
    async with await connect(conninfo) as db:
        backend = db.info.backend_pid
        saved = await follower._resume(db)  # noqa: SLF001 # one step at a time
        await db.execute("SET search_path = read")

        async def step() -> tuple[int, float, float]:
            before = follower.status.position
            began = time.thread_time(), cpu_of(backend)
            await follower._step(db, saved)  # noqa: SLF001
            took = time.thread_time() - began[0], cpu_of(backend) - began[1]
            return follower.status.position - before, *took

        for size in (0, *SIZES * EACH):
            await asyncio.to_thread(record_turns, resources.database_url, size)
            end = (await resources.log.head()).position
            resources.log.durable.others_committed.set()
            await resources.log.durable.reach(saved.epoch, end)
            while follower.status.position < end:
                events, loop_s, database_s = await step()
                # The first ones apply what was there before, and warm up.
                if size:
                    cpu[events].append(loop_s)
                    database[events].append(database_s)
    return FollowerTime(cpu=BatchTime.fit(cpu), database=BatchTime.fit(database))


def record_turns(database_url: str, events: int) -> None:
    """Write a turn of each of some sessions straight into the log."""
    with psycopg.connect(database_url) as owner:
        owner.execute(
            TURNS,
            {"state": json.dumps(TURN), "turn": TURN["turn_id"], "events": events},
        )
        owner.execute(session_log.ADVANCE)
