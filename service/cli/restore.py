"""``agent-runtime restore``: a new database from a backup."""

import argparse
import zipfile
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Final
from uuid import UUID

import psycopg
from psycopg import Connection
from psycopg.sql import SQL, Identifier

from service.cli.backup import verify_keys
from service.cli.backup_file import (
    CHECKPOINT_NAME,
    CHECKPOINTS,
    CHUNK_BYTES,
    FIRST_FORMAT,
    Description,
    Table,
    open_archive,
)
from service.cli.databases import database
from service.cli.running import run_async
from service.cli.settings import add_settings
from service.config import Config
from service.errors import ConfigError
from service.migrate import migrate, with_baseline

COPY: Final = "COPY {} ({}) FROM STDIN"
IS_EMPTY: Final = "SELECT position = 0 FROM events.head"
MIGRATIONS: Final = "SELECT name FROM public.agent_runtime_migration"
REFERENCES: Final = """
    SELECT referring.relname, referred.relname
      FROM pg_constraint c
      JOIN pg_class referring ON referring.oid = c.conrelid
      JOIN pg_class referred ON referred.oid = c.confrelid
     WHERE c.contype = 'f' AND c.connamespace = 'events'::regnamespace
       AND c.conrelid <> c.confrelid
"""
# The same position may become another event's: clients and followers are told.
BEGIN_EPOCH: Final = "SELECT events.begin_epoch()"


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Fill a new database from a backup, embedded or external, in one transaction, "
        "and give the event log a new epoch. Needs the backup's keys.json in the data "
        "folder. No service may run on the database, and it must have no events."
    )
    parser.add_argument("file", type=Path, help="file that 'backup' has written")
    add_settings(parser)
    parser.set_defaults(run=restore_command)


def restore_command(config: Config, options: argparse.Namespace) -> int:
    with open_archive(options.file) as (archive, described):
        if described.format == FIRST_FORMAT:
            print(
                f"{options.file} is of an earlier version, without a digest: its rows "
                "were checked, not every byte"
            )
        run_async(verify_keys(config, described))
        with database(config) as (url, _):
            migrate(url, upto=described.migrations)
            with psycopg.connect(url) as db:
                epoch = _restore(db, archive, described)
            migrate(url)
            with psycopg.connect(url, autocommit=True) as db:
                db.execute("ANALYZE events.stored_event")
        _write_checkpoints(config.data_dir / CHECKPOINTS, archive)
    print(f"restored {described.position} events; the log has the new epoch {epoch}")
    return 0


def _restore(db: Connection, archive: zipfile.ZipFile, described: Description) -> UUID:
    """Fill the tables, all or none, and return the new epoch.

    :raises ConfigError: the database has events already, or newer migrations
    """
    db.execute("SET LOCAL statement_timeout = 0")
    row = db.execute(IS_EMPTY).fetchone()
    if row is None or not row[0]:
        raise ConfigError(
            "the database already has events; restore into a new one, before any "
            "service has run on it"
        )
    backed_up = with_baseline(described.migrations).keys()
    newer = {name for (name,) in db.execute(MIGRATIONS)} - backed_up
    if newer:
        raise ConfigError(
            f"the database has migration {min(newer)}, which the backup's didn't have; "
            "restore into a new one, which 'restore' migrates itself"
        )
    in_order = _referred_first(db, described.tables)
    for table in reversed(in_order):
        _clear(db, table)
    for table in in_order:
        _fill(db, archive, table)
    return _begin_epoch(db)


def _begin_epoch(db: Connection) -> UUID:
    row = db.execute(BEGIN_EPOCH).fetchone()
    assert row is not None
    epoch: UUID = row[0]
    return epoch


def _referred_first(db: Connection, tables: list[Table]) -> list[Table]:
    """Order tables so that foreign keys refer to rows that are there already."""
    sorter = TopologicalSorter[str]({table.name: () for table in tables})
    for referring, referred in db.execute(REFERENCES):
        sorter.add(referring, referred)
    by_name = {table.name: table for table in tables}
    return [by_name[name] for name in sorter.static_order()]


def _clear(db: Connection, table: Table) -> None:
    """Delete the rows that a migration has made, such as the end of an empty log."""
    name = Identifier("events", table.name)
    row = db.execute(SQL("SELECT EXISTS (SELECT FROM {})").format(name)).fetchone()
    if row is not None and row[0]:
        db.execute(SQL("DELETE FROM {}").format(name))


def _fill(db: Connection, archive: zipfile.ZipFile, table: Table) -> None:
    statement = SQL(COPY).format(
        Identifier("events", table.name),
        SQL(", ").join(map(Identifier, table.columns)),
    )
    with archive.open(table.member) as member, db.cursor() as cursor:
        with cursor.copy(statement) as copied:
            while part := member.read(CHUNK_BYTES):
                copied.write(part)
        if cursor.rowcount != table.rows:
            raise ConfigError(
                f"the backup has {cursor.rowcount} rows of {table.name}, not "
                f"{table.rows}"
            )


def _write_checkpoints(folder: Path, archive: zipfile.ZipFile) -> None:
    """Write the backup's signed checkpoints, but none over one that is there."""
    for member in archive.namelist():
        parent, _, name = member.rpartition("/")
        if parent != CHECKPOINTS or not CHECKPOINT_NAME.fullmatch(name):
            continue
        folder.mkdir(mode=0o700, exist_ok=True)
        if not (folder / name).exists():
            (folder / name).write_bytes(archive.read(member))
