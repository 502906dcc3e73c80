"""Migrations of schema "events": each once, in order, by one process at a time."""

import itertools
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from service import migrate as module
from service.migrate import (
    Migration,
    MigrationError,
    PendingMigrationsError,
    migrate,
    migrations,
    require_migrated,
)
from tests.support.waiting import until_blocking

_numbers = itertools.count(1)
WAITS_FOR_LONG = """
    SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event = 'advisory'
       AND query_start < clock_timestamp() - interval '500 ms'
"""
NAMES = [each.name for each in migrations()]


@pytest.fixture
def empty(postgres: str) -> Iterator[str]:
    """The URL of a database without anything."""
    name = f"unmigrated_{next(_numbers)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    yield make_conninfo(postgres, dbname=name)
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def with_another(
    monkeypatch: pytest.MonkeyPatch, sql: str, name: str = "9999_last.sql"
) -> None:
    known = migrations()
    monkeypatch.setattr(
        module, "migrations", lambda: [*known, Migration(name=name, sql=sql)]
    )


def applied(url: str) -> list[str]:
    with psycopg.connect(url) as connection:
        rows = connection.execute(
            "SELECT name FROM public.agent_runtime_migration ORDER BY name"
        ).fetchall()
    return [row[0] for row in rows]


def test_twice_is_harmless(empty: str) -> None:
    assert migrate(empty) == NAMES
    assert migrate(empty) == []


def test_a_check_of_an_empty_database_creates_nothing(empty: str) -> None:
    with pytest.raises(PendingMigrationsError, match=f"lacks {len(NAMES)} migrations"):
        require_migrated(empty)

    with psycopg.connect(empty) as connection:
        tables = connection.execute("SELECT FROM pg_tables WHERE schemaname = 'public'")
        assert tables.fetchall() == []
    migrate(empty)
    require_migrated(empty)


def test_many_at_once_apply_each_once(empty: str) -> None:
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(migrate, [empty] * 8))

    assert sorted(itertools.chain(*results)) == NAMES


def test_the_migration_of_another_process_is_waited_for_however_long_it_takes(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    migrate(empty)
    monkeypatch.setattr(module, "LOCK_TIMEOUT", "50ms")
    with (
        psycopg.connect(empty, autocommit=True) as other,
        ThreadPoolExecutor(1) as pool,
    ):
        other.execute("SELECT pg_advisory_lock(%s)", [module.LOCK])
        waiting = pool.submit(migrate, empty)
        until_blocking(
            lambda: waiting.done() or other.execute(WAITS_FOR_LONG).fetchall()
        )
        other.execute("SELECT pg_advisory_unlock_all()")

        assert waiting.result() == []


def test_two_databases_of_one_server_can_migrate_at_once(
    empty: str, postgres: str
) -> None:
    """Roles belong to the server, not to the database."""
    names = [f"sibling_{next(_numbers)}" for _ in range(4)]
    with psycopg.connect(postgres, autocommit=True) as connection:
        for name in names:
            connection.execute(f"CREATE DATABASE {name}")
    try:
        with ThreadPoolExecutor(4) as pool:
            urls = [make_conninfo(postgres, dbname=name) for name in names]
            assert list(pool.map(migrate, urls)) == [NAMES] * 4
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            for name in names:
                connection.execute(f"DROP DATABASE {name} WITH (FORCE)")


def test_a_changed_migration_is_refused(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_another(monkeypatch, "SELECT 1")
    migrate(empty)
    monkeypatch.undo()
    with_another(monkeypatch, "SELECT 2")

    with pytest.raises(MigrationError, match="applied in another form"):
        migrate(empty)


def test_a_database_of_a_newer_version_is_refused(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_another(monkeypatch, "SELECT 1")
    migrate(empty)
    monkeypatch.undo()

    with pytest.raises(MigrationError, match="doesn't know"):
        migrate(empty)


def test_a_failing_migration_leaves_nothing(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_another(monkeypatch, "CREATE TABLE events.half (x int); SELECT 1/0")

    with pytest.raises(psycopg.errors.DivisionByZero):
        migrate(empty)

    assert applied(empty) == NAMES
    with psycopg.connect(empty) as connection:
        row = connection.execute("SELECT to_regclass('events.half')").fetchone()
    assert row == (None,)


def test_a_killed_migration_is_applied_by_the_next_process(
    empty: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_another(monkeypatch, "CREATE TABLE events.slow (x int); SELECT pg_sleep(30);")
    failed: list[BaseException] = []

    def victim() -> None:
        try:
            migrate(empty)
        except psycopg.OperationalError as error:
            failed.append(error)

    thread = threading.Thread(target=victim)
    thread.start()
    _kill_the_sleeper(empty)
    thread.join(10)
    assert failed
    monkeypatch.undo()
    with_another(monkeypatch, "CREATE TABLE events.slow (x int)")

    assert migrate(empty) == ["9999_last.sql"]


def _kill_the_sleeper(url: str) -> None:
    kill = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND wait_event = 'PgSleep'"
    )
    with psycopg.connect(url, autocommit=True) as connection:
        until_blocking(lambda: connection.execute(kill).fetchall())


def test_another_role_than_a_superuser_can_own_the_database(postgres: str) -> None:
    name = f"owned_{next(_numbers)}"
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {name} LOGIN CREATEROLE")
        connection.execute(f"CREATE DATABASE {name} OWNER {name}")
        for role in ("agent_runtime_service", "agent_runtime_reader"):
            exists = connection.execute(
                "SELECT FROM pg_roles WHERE rolname = %s", [role]
            ).fetchone()
            if exists is not None:
                connection.execute(f"GRANT {role} TO {name} WITH ADMIN OPTION")
    url = make_conninfo(postgres, dbname=name, user=name)
    try:
        assert migrate(url) == NAMES
    finally:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name} WITH (FORCE)")
            connection.execute(f"DROP OWNED BY {name}")
            connection.execute(f"DROP ROLE {name}")
