"""What a page of sessions takes, and how many bytes a turn."""

from pathlib import Path

import psycopg
import uvloop

from projections.catalog import PROJECTORS
from service.resources import open_resources
from tests.bench import load, processes, session_log
from tests.bench.plan import Plan, reads, rule_changes
from tests.bench.stage import LIST, follow_to_the_end
from tests.bench.world import World
from tests.simulation.measure_http import (
    CONNECTIONS,
    EACH,
    SECONDS,
    committed,
    sessions,
    turns,
)
from tests.simulation.real import caller_of, cpu_of, threads_cpu_of
from tests.simulation.service_times import Spread

SESSIONS = 20_000
BACKENDS = "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend'"
SIZES = """
    SELECT coalesce(sum(pg_total_relation_size(c.oid))
                    FILTER (WHERE n.nspname = 'events'), 0),
           coalesce(sum(pg_total_relation_size(c.oid))
                    FILTER (WHERE n.nspname = 'read'), 0),
           pg_current_wal_insert_lsn() - '0/0'::pg_lsn
      FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind = 'r'
"""


async def _world(url: str, folder: Path) -> World:
    async with caller_of(url, folder) as (caller, _resources):
        return caller.world


async def _follow(url: str, folder: Path) -> None:
    async with open_resources(url, folder) as resources:
        await follow_to_the_end(resources, PROJECTORS)


def page_times(url: str, folder: Path) -> tuple[dict[str, Spread], World]:
    """Time pages of 25 sessions as multiples of requests that replace rules.

    Both in turn in one process, so that other work on the machine counts little.
    """
    world = uvloop.run(_world(url, folder))
    session_log.write_sessions(url, sessions=SESSIONS, agent=world.agents[0])
    uvloop.run(_follow(url, folder))
    pages, rules = reads(world.admin_token, LIST), rule_changes(world)
    found: dict[str, list[float]] = {"api": [], "database": []}
    with processes.service(url, folder) as api:

        def cpu_for_each(plan: Plan) -> tuple[float, float]:
            file = plan.write(folder / "requests.plan")
            api_s, before = threads_cpu_of(api.pid), _backends(url)
            done = load.generated(
                api.url, file, seconds=SECONDS, connections=CONNECTIONS
            )
            api_s = threads_cpu_of(api.pid) - api_s
            database_s = sum(
                cpu - before.get(pid, 0.0) for pid, cpu in _backends(url).items()
            )
            return api_s / done.requests, database_s / done.requests

        for number in range(EACH):
            of_rules, _ = cpu_for_each(rules)
            api_s, database_s = cpu_for_each(pages)
            # The first ones warm up.
            if number:
                found["api"].append(api_s / of_rules)
                found["database"].append(database_s / of_rules)
    return {name: Spread.of(each) for name, each in found.items()}, world


def _backends(url: str) -> dict[int, float]:
    with psycopg.connect(url) as connection:
        own = connection.info.backend_pid
        pids = [pid for (pid,) in connection.execute(BACKENDS) if pid != own]
    return {pid: cpu_of(pid) for pid in pids}


def bytes_of_turn(url: str, folder: Path, world: World) -> dict[str, float]:
    """Record turns with texts of 400 bytes, let all followers read them, and divide."""
    file = folder / "requests.plan"
    with processes.service(url, folder) as api:
        start = sessions(world).write(file)
        load.generated(api.url, start, seconds=SECONDS, connections=CONNECTIONS)
        uvloop.run(_follow(url, folder))
        before, (events, _) = _sizes(url), committed(url)
        turns(world, 0).write(file)
        load.generated(api.url, file, seconds=4 * SECONDS, connections=CONNECTIONS)
    recorded = committed(url)[0] - events
    uvloop.run(_follow(url, folder))
    grown = [b - a for a, b in zip(before, _sizes(url), strict=True)]
    return {
        name: round(each / recorded)
        for name, each in zip(("log", "read tables", "WAL"), grown, strict=True)
    }


def _sizes(url: str) -> list[float]:
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(SIZES).fetchone()
    assert row is not None
    return [float(each) for each in row]
