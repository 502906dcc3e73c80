"""Apply the migrations of schema "events", in order, once, by one process at a time."""

import hashlib
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Final

import psycopg

LOCK = 7_205_759_403_792_001
LOCK_TIMEOUT = "30s"
TABLE = """
    CREATE TABLE IF NOT EXISTS public.agent_runtime_migration (
        name       text        PRIMARY KEY,
        sha256     text        NOT NULL,
        applied_at timestamptz NOT NULL DEFAULT now()
    )
"""
HAS_TABLE = "SELECT to_regclass('public.agent_runtime_migration') IS NOT NULL"
APPLIED = "SELECT name, sha256 FROM public.agent_runtime_migration"
RECORD = "INSERT INTO public.agent_runtime_migration (name, sha256) VALUES (%s, %s)"

BASELINE: Final = "0018_baseline.sql"
# The migrations that the baseline replaces, as commit 0fd5674 has them: how many, and
# the output of sha256sum * | sha256sum in their folder.
FOLDED_COUNT: Final = 18
FOLDED_SHA256: Final = (
    "c9463fd322274ddaa59dd887c601ac366df4aead7f99b7b58fc12d575c7a7edb"
)
FORGET: Final = "DELETE FROM public.agent_runtime_migration WHERE name = ANY (%s)"
# Versions before commit 0fd5674 called these.
DROP_OLD_APPENDS: Final = """
    DROP FUNCTION IF EXISTS events.append(
        uuid, int[], uuid[], bigint[], int[], uuid[], bigint[], text[], bytea[],
        uuid[], text[], int[], bytea[], bytea[], bytea[], int[], uuid[], uuid[], bytea[]
    ), events.append(
        uuid, uuid[], bigint[], int[], int[], int[], uuid[], bigint[], text[], bytea[],
        uuid[], text[], int[], bytea[], bytea[], bytea[], int[], uuid[], uuid[], bytea[]
    )
"""

logger = logging.getLogger(__name__)


class MigrationError(Exception):
    """The database has a migration that this version lacks, or has another form of."""


class PendingMigrationsError(MigrationError):
    """The database lacks migrations of this version."""

    def __init__(self, names: Sequence[str]) -> None:
        count, them = (
            ("1 migration", "it")
            if len(names) == 1
            else (f"{len(names)} migrations", "them")
        )
        super().__init__(
            f"the database lacks {count} of this version: apply {them} with"
            " 'agent-runtime migrate'"
        )


@dataclass(frozen=True, slots=True)
class Migration:
    name: str
    sql: str

    @property
    def sha256(self) -> str:
        return hashlib.sha256(self.sql.encode()).hexdigest()


def migrations() -> list[Migration]:
    """Return the migrations of this version, in order."""
    folder = files("service").joinpath("migrations")
    return [
        Migration(entry.name, entry.read_text(encoding="utf-8"))
        for entry in sorted(folder.iterdir(), key=lambda entry: entry.name)
        if entry.name.endswith(".sql")
    ]


def migrate(conninfo: str, *, upto: Mapping[str, str] | None = None) -> list[str]:
    """Bring the database up to date and return the names of the applied migrations.

    Each migration is one transaction. Safe to run from several processes at once.
    ``upto`` are the names and hashes of another database's migrations: then only
    these are applied.

    :raises MigrationError: if the database has one that this version lacks or changed,
        or only some of those that the baseline replaces
    """
    with psycopg.connect(conninfo, autocommit=True) as connection:
        _wait_for_others(connection)
        connection.execute(f"SET lock_timeout = '{LOCK_TIMEOUT}'")
        connection.execute(TABLE)
        recorded: dict[str, str] = dict(connection.execute(APPLIED).fetchall())
        applied = with_baseline(recorded)
        known = migrations()
        _check(applied, known)
        if upto is not None:
            upto = with_baseline(upto)
            _check(upto, known)
            known = [each for each in known if each.name in upto]
        if folded := recorded.keys() - applied.keys():
            with connection.transaction():
                connection.execute(DROP_OLD_APPENDS)
                connection.execute(FORGET, [list(folded)])
                connection.execute(RECORD, [BASELINE, applied[BASELINE]])
            logger.info("recorded %s for the migrations that it replaces", BASELINE)
        pending = [migration for migration in known if migration.name not in applied]
        for migration in pending:
            with connection.transaction():
                connection.execute(migration.sql)
                connection.execute(RECORD, [migration.name, migration.sha256])
        return [migration.name for migration in pending]


def with_baseline(applied: Mapping[str, str]) -> dict[str, str]:
    """Return names and hashes of migrations, with the baseline for those it replaces.

    :raises MigrationError: some of these are missing or changed
    """
    folded = {
        name: sha256
        for name, sha256 in applied.items()
        if name != BASELINE and name[:4] <= BASELINE[:4]
    }
    if not folded:
        return dict(applied)
    if len(folded) < FOLDED_COUNT:
        raise MigrationError(
            f"the database has only {len(folded)} of the {FOLDED_COUNT} migrations that"
            f" {BASELINE} replaces: first upgrade it with the version of commit"
            " 0fd5674, which has all of them"
        )
    lines = "".join(f"{folded[name]}  {name}\n" for name in sorted(folded))
    if hashlib.sha256(lines.encode()).hexdigest() != FOLDED_SHA256:
        raise MigrationError(
            f"the migrations that {BASELINE} replaces were applied in another form: use"
            " a released version"
        )
    baseline = next(each.sha256 for each in migrations() if each.name == BASELINE)
    return {BASELINE: baseline} | {
        name: sha256 for name, sha256 in applied.items() if name not in folded
    }


def _wait_for_others(connection: psycopg.Connection) -> None:
    """Wait until no other process migrates, however long its migrations take."""
    row = connection.execute("SELECT pg_try_advisory_lock(%s)", [LOCK]).fetchone()
    if row != (True,):
        logger.info("waiting for another process, which migrates the database")
        connection.execute("SELECT pg_advisory_lock(%s)", [LOCK])


def require_migrated(conninfo: str) -> None:
    """Require that the database is up to date, and change nothing.

    :raises PendingMigrationsError: it lacks migrations of this version
    :raises MigrationError: it has one that this version lacks or changed, or only some
        of those that the baseline replaces
    """
    with psycopg.connect(conninfo, autocommit=True) as connection:
        applied: dict[str, str] = {}
        if connection.execute(HAS_TABLE).fetchone() == (True,):
            # Those that the baseline replaced made what it makes: no reader has to wait
            # until 'migrate' records that.
            applied = with_baseline(dict(connection.execute(APPLIED).fetchall()))
    known = migrations()
    _check(applied, known)
    pending = [migration.name for migration in known if migration.name not in applied]
    if pending:
        raise PendingMigrationsError(pending)


def _check(applied: Mapping[str, str], known: list[Migration]) -> None:
    ours = {migration.name: migration.sha256 for migration in known}
    for name, sha256 in applied.items():
        if name not in ours:
            raise MigrationError(
                f"the database has migration {name}, which this version doesn't know:"
                " use the version that applied it, or a later one"
            )
        if ours[name] != sha256:
            raise MigrationError(
                f"migration {name} was applied in another form: use a released version"
            )
