"""The library ``eventsourcing`` as it comes: its application, recorder and projection.

Run as a program, so that it has an interpreter of its own: ``python -m
tests.instruments.bench.library commands|projection DATABASE_URL AMOUNT``. AMOUNT is
seconds or events. Prints ``rate N``, per second.
"""

import re
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from eventsourcing.application import Application
from eventsourcing.dispatch import singledispatchmethod
from eventsourcing.domain import Aggregate, event
from eventsourcing.persistence import Tracking
from eventsourcing.postgres import PostgresTrackingRecorder
from eventsourcing.projection import Projection, ProjectionRunner
from psycopg.conninfo import conninfo_to_dict
from psycopg.sql import SQL, Identifier

THREADS = 16
AGGREGATES = 256
AT_ONCE = 100
RATE = re.compile(r"^rate ([0-9.]+)$", re.MULTILINE)


class RuleSet(Aggregate):
    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.rules: dict[str, dict[str, str]] = {}

    @event("Replaced")
    def replace(self, rules: dict[str, dict[str, str]]) -> None:
        self.rules = {**self.rules, **rules}


class Session(Aggregate):
    def __init__(
        self, session_id: str, agent_id: str, user_id: str, started_at: str
    ) -> None:
        self.session_id = session_id
        self.agent_id = agent_id
        self.user_id = user_id
        self.started_at = started_at


class Commands(Application[UUID]):
    name = "bench_commands"


class Sessions(Application[UUID]):
    name = "bench_sessions"


class SessionList(PostgresTrackingRecorder):
    """A table of sessions that is written together with the position."""

    def __init__(self, datastore: Any, **kwargs: Any) -> None:
        super().__init__(datastore, **kwargs)
        self._table = Identifier(self.datastore.schema), Identifier("bench_session")
        self.sql_create_statements.append(
            SQL(
                "CREATE TABLE IF NOT EXISTS {}.{} (id uuid PRIMARY KEY, "
                "session_id text, agent_id uuid, user_id uuid, "
                "started_at timestamptz)"
            ).format(*self._table)
        )

    def add(self, session: Any, tracking: Tracking) -> None:
        with self.datastore.transaction(commit=True) as cursor:
            self._insert_tracking(cursor, tracking)
            cursor.execute(
                SQL("INSERT INTO {}.{} VALUES (%s, %s, %s, %s, %s)").format(
                    *self._table
                ),
                [
                    session.originator_id,
                    session.session_id,
                    session.agent_id,
                    session.user_id,
                    session.started_at,
                ],
                prepare=True,
            )


class SessionProjection(Projection[SessionList]):
    name = "bench_session_list"

    @singledispatchmethod
    def process_event(self, domain_event: Any, tracking: Tracking) -> None:  # noqa: ARG002
        self.view.insert_tracking(tracking)

    @process_event.register
    def _(self, domain_event: Session.Created, tracking: Tracking) -> None:
        self.view.add(domain_event, tracking)


def measure(what: str, database_url: str, amount: float) -> float:
    """Run this module as a program and return its rate."""
    command = [
        sys.executable,
        "-m",
        "tests.instruments.bench.library",
        what,
        database_url,
    ]
    run = subprocess.run(
        [*command, str(amount)], capture_output=True, text=True, check=False
    )
    found = RATE.search(run.stdout)
    if found is None:
        raise RuntimeError(run.stderr[-2000:])
    return float(found[1])


def environment(database_url: str) -> dict[str, str]:
    words = conninfo_to_dict(database_url)
    return {
        "PERSISTENCE_MODULE": "eventsourcing.postgres",
        "POSTGRES_DBNAME": str(words["dbname"]),
        "POSTGRES_HOST": str(words["host"]),
        "POSTGRES_PORT": str(words["port"]),
        "POSTGRES_USER": str(words["user"]),
        "POSTGRES_PASSWORD": "unused",
        "POSTGRES_POOL_SIZE": str(THREADS),
        "POSTGRES_MAX_OVERFLOW": str(THREADS),
    }


def commands(env: Mapping[str, str], seconds: float) -> float:
    """Load, change and save aggregates in threads; return commands per second."""
    application = Commands(env)
    sets = [RuleSet(agent_id=str(uuid4())) for _ in range(AGGREGATES)]
    application.save(*sets)
    ids = [each.id for each in sets]
    counts = [0] * THREADS
    until = time.perf_counter() + seconds

    def work(number: int) -> None:
        mine = ids[number::THREADS]
        while time.perf_counter() < until:
            rules: Any = application.repository.get(mine[counts[number] % len(mine)])
            rules.replace(_three_rules(counts[number]))
            application.save(rules)
            counts[number] += 1

    threads = [threading.Thread(target=work, args=(n,)) for n in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    application.close()
    return sum(counts) / seconds


def projection(env: Mapping[str, str], events: int) -> float:
    """Fill a table of sessions from their events; return events per second."""
    application = Sessions(env)
    fresh: Sequence[Session] = [
        Session(
            session_id=f"session-{number}",
            agent_id=str(uuid4()),
            user_id=str(uuid4()),
            started_at="2026-03-01T12:00:00+00:00",
        )
        for number in range(events)
    ]
    # With a thousand at once its pipeline never comes back.
    for start in range(0, events, AT_ONCE):
        recorded = application.save(*fresh[start : start + AT_ONCE])
    last = recorded[-1].notification.id
    application.close()
    begun = time.perf_counter()
    with ProjectionRunner(
        application_class=Sessions,
        projection_class=SessionProjection,
        view_class=SessionList,
        env=dict(env),
    ) as runner:
        runner.wait(last, timeout=600)
        return events / (time.perf_counter() - begun)


def _three_rules(number: int) -> dict[str, dict[str, str]]:
    stance = ("ask", "deny")[number % 2]
    return {
        "9b2d0b0a-4a53-4d0e-a5a8-0f6f3a9f1d11": {
            "issues.create": stance,
            "issues.read_*": "allow",
        },
        "1f0c9c7e-3d0f-4a61-9a58-7a4a5f3a2b10": {"*": "ask"},
    }


def main() -> None:
    what, database_url, amount = sys.argv[1:]
    env = environment(database_url)
    if what == "commands":
        rate = commands(env, float(amount))
    else:
        rate = projection(env, int(float(amount)))
    print(f"rate {rate:.1f}")


if __name__ == "__main__":
    main()
