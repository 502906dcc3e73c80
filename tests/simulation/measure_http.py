"""What a request takes in an API process, besides its command."""

import time
from pathlib import Path

import orjson
import psycopg

from tests.bench import load, processes
from tests.bench.plan import Plan, Request, rule_changes
from tests.bench.world import World
from tests.simulation.real import threads_cpu_of
from tests.simulation.service_times import BatchTime, Spread

EACH = 7
SECONDS = 2
CONNECTIONS = 32
COMMITTED = "SELECT count(*), count(DISTINCT xmin::text) FROM events.stored_event"
SESSIONS = 100
TURNS = 10_000
PATH = "/api/observability/session"
TEXT = "x" * 400


def http_times(
    url: str, folder: Path, world: World, command: BatchTime
) -> dict[str, Spread]:
    """Time requests that replace rules, and requests that record a turn."""
    plans = {
        "rules": [rule_changes(world)] * EACH,
        "turn": [turns(world, number) for number in range(EACH)],
    }
    file = folder / "requests.plan"
    found = {}
    with processes.service(url, folder) as api:
        start = sessions(world).write(file)
        load.generated(api.url, start, seconds=2 * SECONDS, connections=CONNECTIONS)
        began = threads_cpu_of(api.pid)
        time.sleep(2 * SECONDS)
        idle = (threads_cpu_of(api.pid) - began) / 2
        for name, each in plans.items():
            took = []
            for plan in each:
                plan.write(file)
                began, before = threads_cpu_of(api.pid), committed(url)
                load.generated(api.url, file, seconds=SECONDS, connections=CONNECTIONS)
                cpu = threads_cpu_of(api.pid) - began - idle
                requests, batches = (
                    b - a for a, b in zip(before, committed(url), strict=True)
                )
                of_commands = command.base * batches + command.each * requests
                took.append((cpu - of_commands) / requests)
            # The first one warms up.
            found[name] = Spread.of(took[1:])
    return found


def committed(url: str) -> tuple[int, int]:
    """Return how many events there are, and how many commits they came in."""
    with psycopg.connect(url) as connection:
        row = connection.execute(COMMITTED).fetchone()
    assert row is not None
    return int(row[0]), int(row[1])


def sessions(world: World) -> Plan:
    """Start sessions, the same ones again and again."""
    bodies = [
        {"agent_id": str(world.agents[0]), "session_id": f"session-{number}"}
        for number in range(SESSIONS)
    ]
    return _plan(world, [Request("POST", PATH, orjson.dumps(each)) for each in bodies])


def turns(world: World, run: int) -> Plan:
    """Record turns of these sessions, each of them once."""
    return _plan(
        world,
        [
            Request(
                "POST",
                f"{PATH}/session-{number % SESSIONS}/turns",
                orjson.dumps(
                    {
                        "turn_id": f"turn-{run}-{number}",
                        "started_at": "2026-03-01T12:00:00Z",
                        "ended_at": "2026-03-01T12:00:02.5Z",
                        "provider": "openai",
                        "model": "gpt-4o-mini",
                        "prompt_tokens": 1200,
                        "completion_tokens": 300,
                        "input": TEXT,
                        "output": TEXT,
                    }
                ),
            )
            for number in range(TURNS)
        ],
    )


def _plan(world: World, requests: list[Request]) -> Plan:
    headers = {
        "Authorization": f"Bearer {world.token}",
        "Content-Type": "application/json",
    }
    return Plan(headers, requests)
