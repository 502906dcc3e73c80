"""A long log: its tree and trail, a replay, an export, and verifying that.

    python -m tests.instruments.bench.audit [--events 1000000]

The log is copied into an embedded PostgreSQL on disk: of every twenty events fifteen
are of a chat session, the rest of an agent and its rules. Commands run as processes
of their own; the memory is their peak, without that of PostgreSQL.
"""

import argparse
import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import psycopg
from eventsourcing.persistence import StoredEvent

from projections.agents.projector import AgentsProjector
from projections.audit.proofs.projector import MerkleTreeProjector
from projections.audit.proofs.signer import CheckpointSigner
from projections.audit.trail.projector import AuditTrailProjector
from projections.catalog import follower_conninfo
from projections.connectors.projector import ConnectorsProjector
from projections.engine.rebuild import rebuild
from projections.users.projector import UsersProjector
from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.aggregates import AGGREGATES
from service.connection_pool import connection_pool
from service.database import service_conninfo
from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log.mapper import EventMapper
from service.migrate import migrate
from service.sessions.aggregate import ChatSession
from service.sessions.cost import NO_CHARGE
from service.sessions.turn import SealedTexts, TokenCounts, Turn
from service.tool_rules.aggregate import ToolRules

STARTED = datetime(2026, 1, 1, tzinfo=UTC)
TEXT = "c" * 200
TURNS = 13
METADATA = (
    '{"actor":"%s","token":"%s","request_id":"4cd4b0ad8fbb488d882995137a6ef5fe",'
    '"address":"127.0.0.1"}'
)
# A process begins with the memory of the one that forked it, so a small one forks.
LAUNCHER = (
    "import resource, subprocess, sys;"
    "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True);"
    "used = resource.getrusage(resource.RUSAGE_CHILDREN);"
    "print(used.ru_maxrss, file=sys.stderr)"
)
COPY = """
    COPY events.stored_event (originator_id, originator_version, topic, state,
         notification_id, recorded_at, command_id, metadata) FROM STDIN
"""


def aggregates() -> Iterator[LoggedAggregate]:
    """Twenty events, again and again."""
    while True:
        user = str(uuid4())
        agent = Agent(name="Benchmark", description="", manager_id=user)
        yield agent
        rules = ToolRules(agent_id=str(agent.id))
        for stance in ("allow", "ask", "deny"):
            rules.replace({str(uuid4()): {"issues.*": stance, "*delete*": "deny"}})
        yield rules
        session = ChatSession(
            session_id=str(uuid4()),
            agent_id=str(agent.id),
            user_id=user,
            started_at=STARTED.isoformat(),
        )
        for number in range(TURNS):
            began = STARTED + timedelta(seconds=number)
            turn = Turn(
                turn_id=str(uuid4()),
                started_at=began,
                ended_at=began + timedelta(seconds=1),
                provider="acme",
                model="swift-1",
                tokens=TokenCounts(prompt=100, completion=10),
                texts=None,  # type: ignore[arg-type]  # sealed ones are recorded
            )
            session.record_turn(turn, SealedTexts(input=TEXT, output=TEXT), NO_CHARGE)
        session.end(at=STARTED + timedelta(minutes=1))
        yield session


def stored(mapper: EventMapper) -> Iterator[StoredEvent]:
    for aggregate in aggregates():
        for event in aggregate.take_events(at=STARTED):
            yield mapper.to_stored_event(event)


def fill(url: str, count: int) -> None:
    """Copy a log of some length, as the owner of the database."""
    events = stored(EventMapper(AGGREGATES))
    metadata = METADATA % (uuid4(), uuid4())
    with psycopg.connect(url) as db:
        with db.cursor().copy(COPY) as copy:
            for position in range(1, count + 1):
                event = next(events)
                copy.write_row(
                    (
                        event.originator_id,
                        event.originator_version,
                        event.topic,
                        event.state,
                        position,
                        STARTED + timedelta(milliseconds=position),
                        uuid4(),
                        metadata,
                    )
                )
        db.execute("UPDATE events.head SET position = %s", [count])
        db.execute("ANALYZE events.stored_event")


async def build(url: str, projector: Any) -> float:
    started = time.perf_counter()
    await rebuild(follower_conninfo(url), EventMapper(AGGREGATES), projector)
    return time.perf_counter() - started


async def sign(url: str, folder: Path) -> None:
    async with connection_pool(service_conninfo(url)) as pool:
        await CheckpointSigner(pool, folder).sign()


def measured(*command: str) -> tuple[float, int]:
    """Run a command of the service; return seconds and its peak memory in MB."""
    started = time.perf_counter()
    launched = subprocess.run(
        [
            sys.executable,
            "-S",
            "-c",
            LAUNCHER,
            sys.executable,
            "-m",
            "service",
            *command,
        ],
        capture_output=True,
        env={"PATH": os.environ["PATH"]},
        check=True,
    )
    return time.perf_counter() - started, int(launched.stderr) // 1024


def report(what: str, seconds: float, count: int, megabytes: int | None = None) -> None:
    memory = "" if megabytes is None else f", {megabytes} MB"
    print(f"{what}: {seconds:.1f} s, {count / seconds:,.0f} events/s{memory}")


def run(url: str, folder: Path, count: int) -> None:
    started = time.perf_counter()
    fill(url, count)
    report("fill", time.perf_counter() - started, count)
    report("Merkle tree", asyncio.run(build(url, MerkleTreeProjector())), count)
    report("audit trail", asyncio.run(build(url, AuditTrailProjector())), count)
    for named in (AgentsProjector(), ConnectorsProjector(), UsersProjector()):
        asyncio.run(build(url, named))
    asyncio.run(sign(url, folder))
    database = ("--database-url", url, "--data-dir", str(folder))
    for size in (count // 10, count):
        export = folder / f"{size}.jsonl"
        upto = ("--until-position", str(size))
        took = measured("audit", "events", *database, *upto, "--output", str(export))
        report(f"export of {size} as JSON Lines", took[0], size, took[1])
    as_csv = ("--format", "csv", "--output", str(folder / "all.csv"))
    took = measured("audit", "events", *database, *as_csv)
    report("export as CSV", took[0], count, took[1])
    took = measured(
        *("audit", "verify", str(folder / f"{count}.jsonl")),
        *("--public-key", str(folder / "checkpoints" / "public-key")),
        *("--checkpoint", str(folder / "checkpoints")),
    )
    report("verify", took[0], count, took[1])
    for position in (count // 10, count):
        took = measured("audit", "replay", *database, "--at", str(position))
        report(f"replay at {position}", took[0], position, took[1])


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--events", type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="agent-runtime-bench-") as name:
        folder = Path(name)
        with EmbeddedPostgres.start(folder) as postgres:
            migrate(postgres.url)
            run(postgres.url, folder, options.events)


if __name__ == "__main__":
    main()
