"""How fast the relay catches up, and how late a consumer hears of a commit.

    python -m tests.instruments.bench.relay [--events 1000000] [--seconds 20] [--rate
    1000]

A process each for PostgreSQL, Kafka, the relay, the writer and the consumer, all on
this machine: the numbers say as much about the machine as about the relay.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import quantiles
from typing import Any
from uuid import UUID

import psycopg
from psycopg.conninfo import make_conninfo

from agent_runtime_client.kafka import consume
from projections.relay.kafka.settings import KafkaSettings
from service.aggregates import AGGREGATES
from service.connection_pool import connection_pool
from service.database import service_conninfo
from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log.log import EventLog
from service.migrate import migrate
from service.open_resources import open_resources
from service.resources import Resources
from tests.integration.relay import relay_process
from tests.support.kafka.broker import Broker
from tests.support.kafka.fixtures import new_topic
from tests.support.kafka.jars import broker_libs
from tests.support.kafka.reading import positions
from tests.support.relay.writing import register, toggle

SESSIONS = 10_000
TURN = {
    **dict.fromkeys(("agent_id", "user_id"), str(UUID(int=1))),
    "turn_id": "0af7651916cd43dd8448eb211c80319c",
    "trace_id": "0af7651916cd43dd8448eb211c80319c",
    "started_at": "2026-01-01T00:00:00+00:00",
    "ended_at": "2026-01-01T00:00:02+00:00",
    "latency_us": 2_000_000,
    "provider": "anthropic",
    "model": "claude-sonnet-4-5",
    "prompt_tokens": 1200,
    "completion_tokens": 300,
    "cache_read_tokens": None,
    "cache_creation_tokens": None,
    "cost": "0.0081",
    "currency": "USD",
    "price_id": f"{UUID(int=2)}:2",
    "is_error": False,
    "sealed_error": None,
    "sealed_input": "x" * 400,
    "input_truncated": False,
    "sealed_output": "y" * 400,
    "output_truncated": False,
    "spans": None,
    "shares": None,
    "timestamp": {"_type_": "datetime_iso", "_data_": "2026-01-01T00:00:02+00:00"},
}
FILL = """
    INSERT INTO events.stored_event (
           originator_id, originator_version, topic, state,
           notification_id, recorded_at, command_id, metadata)
    SELECT md5((i %% %(aggregates)s)::text)::uuid, 1 + i / %(aggregates)s,
           'session.turn_recorded', %(state)s, i + 1, now(), gen_random_uuid(),
           '{"actor": "00000000-0000-0000-0000-000000000001", "request_id": "r"}'
      FROM generate_series(0, %(events)s - 1) AS i
"""
PUBLISHED = "SELECT position FROM read.position WHERE follower = 'relay'"
MOVE_HEAD = "UPDATE events.head SET position = %s, recorded_at = now()"


def database(server: str, name: str) -> str:
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    url = make_conninfo(server, dbname=name)
    migrate(url)
    return url


def fill(url: str, events: int) -> None:
    """Write the events of many sessions straight into the log."""
    state = json.dumps(TURN).encode()
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            FILL, {"aggregates": SESSIONS, "state": state, "events": events}
        )
        connection.execute(MOVE_HEAD, [events])
        connection.execute("VACUUM ANALYZE events.stored_event")


async def catch_up(resources: Resources, kafka: KafkaSettings, events: int) -> float:
    """Return events per second, from the first transaction to the last."""
    with relay_running(resources, kafka):
        first, began = await published_beyond(resources, 0)
        last, ended = await published_beyond(resources, events - 1)
    found = await asyncio.to_thread(positions, kafka.bootstrap, kafka.topic)
    assert found == list(range(1, events + 1)), "not every event once"
    return (last - first) / (ended - began)


async def published_beyond(resources: Resources, position: int) -> tuple[int, float]:
    while True:
        async with resources.pool.connection() as db:
            row = await (await db.execute(PUBLISHED)).fetchone()
        if row is not None and row[0] > position:
            return row[0], time.perf_counter()
        await asyncio.sleep(0.02)


async def latencies_ms(
    resources: Resources, kafka: KafkaSettings, *, rate: int, seconds: int
) -> list[float]:
    """Return how long after its ``recorded_at`` each event reached a consumer."""
    found: list[float] = []
    with relay_running(resources, kafka):
        async with (
            asyncio.timeout(seconds * 4),
            consume(kafka.bootstrap, kafka.topic) as events,
        ):
            writer = subprocess.Popen(  # noqa: ASYNC220
                [
                    *(sys.executable, "-m", "tests.instruments.bench.relay", "--write"),
                    *(resources.database_url, "--rate", str(rate)),
                    *("--seconds", str(seconds)),
                ]
            )
            async for event in events:
                # The registrations come all at once and are none of the load.
                if event.name != "connector.registered.v1":
                    found.append((time.time() - event.recorded_at.timestamp()) * 1000)
                if len(found) >= rate * (seconds - 1):
                    break
            writer.wait()
    return found[rate:]


async def write(url: str, *, rate: int, seconds: int) -> None:
    """Append single events at an even pace, each as a command of its own."""
    step_s = 0.01
    conninfo = service_conninfo(url)
    async with connection_pool(conninfo) as pool:
        log = EventLog(conninfo, AGGREGATES, pool)
        await log.start()
        connectors = await register(log, 2_000)
        began = time.perf_counter()
        commands: list[asyncio.Task[Any]] = []
        for step in range(int(seconds / step_s)):
            due = int(rate * step_s * (step + 1)) - len(commands)
            for _ in range(due):
                chosen = connectors[len(commands) % len(connectors)]
                commands.append(asyncio.create_task(toggle(log, chosen)))
            await asyncio.sleep(
                max(began + (step + 1) * step_s - time.perf_counter(), 0)
            )
        await asyncio.gather(*commands)
        await log.stop()


def other_folder(folder: str) -> Path:
    # A key ring belongs to one database.
    made = Path(folder) / "other"
    made.mkdir()
    return made


@contextmanager
def relay_running(resources: Resources, kafka: KafkaSettings) -> Iterator[None]:
    process = relay_process.start(resources, kafka, with_lock=True)
    try:
        yield
    finally:
        process.kill()


async def measure(options: argparse.Namespace, server: str, bootstrap: str) -> Any:
    results: dict[str, Any] = {"cores": os.cpu_count(), "load_before": os.getloadavg()}
    with tempfile.TemporaryDirectory() as folder:
        if options.events:
            url = database(server, "catching_up")
            fill(url, options.events)
            async with open_resources(url, Path(folder)) as resources:
                rate = await catch_up(
                    resources, await new_topic(bootstrap), options.events
                )
                results["catch_up_events_per_s"] = round(rate)
        if options.seconds:
            url = database(server, "latency")
            async with open_resources(url, other_folder(folder)) as resources:
                found = await latencies_ms(
                    resources,
                    await new_topic(bootstrap),
                    rate=options.rate,
                    seconds=options.seconds,
                )
                cuts = quantiles(found, n=100)
                results["commit_to_consumer_ms"] = {
                    "events_per_s": options.rate,
                    "p50": round(cuts[49], 1),
                    "p99": round(cuts[98], 1),
                    "max": round(max(found), 1),
                    "events": len(found),
                }
    return results | {"load_after": os.getloadavg()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--rate", type=int, default=1_000)
    parser.add_argument("--write", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.write:
        asyncio.run(write(options.write, rate=options.rate, seconds=options.seconds))
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "kafka").mkdir()
        broker = Broker(broker_libs(), Path(folder) / "kafka")
        broker.format()
        try:
            broker.start()
            with EmbeddedPostgres.start(Path(folder) / "data") as postgres:
                results = asyncio.run(measure(options, postgres.url, broker.bootstrap))
        finally:
            broker.stop()
    print(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
