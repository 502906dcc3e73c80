"""``agent-runtime backup``: the event log and all that is sealed, as one file."""

import argparse
import zipfile
from pathlib import Path
from typing import Final

import psycopg
from psycopg import Connection, IsolationLevel
from psycopg.sql import SQL, Identifier

from service import __version__
from service.cli.backup_file import (
    CHECKPOINT_NAME,
    CHECKPOINTS,
    DESCRIPTION,
    Description,
    Table,
    new_archive,
)
from service.cli.databases import database_to_read
from service.cli.running import run_async
from service.cli.settings import add_settings
from service.config import Config
from service.keys.canary import verify_canaries
from service.keys.key_ring import KEY_RING_FILE, KeyRing
from service.keys.root_key_source import outside_root_keys
from service.migrate import APPLIED, with_baseline

CANARIES: Final = """
    SELECT root_key_id, encode(sealed, 'hex') FROM events.root_key_canary ORDER BY 1
"""
TABLES: Final = """
    SELECT c.relname, array_agg(a.attname::text ORDER BY a.attnum)
      FROM pg_class c
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0
       AND NOT a.attisdropped AND a.attgenerated = ''
     WHERE c.relnamespace = 'events'::regnamespace AND c.relkind = 'r'
     GROUP BY c.relname
     ORDER BY c.relname
"""
COPY: Final = "COPY {} ({}) TO STDOUT"
KEEP_RECEIPTS: Final = """
    LOCK TABLE events.receipt, events.receipt_previous IN ACCESS SHARE MODE
"""


def add_to(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Write the event log, the keys of users and all sealed values into one file, "
        "as of one point in time, also while the service runs. The root keys aren't in "
        "it: keep keys.json and checkpoint-key.pem elsewhere."
    )
    parser.add_argument("file", type=Path, help="file to write; must not exist")
    add_settings(parser)
    parser.set_defaults(run=backup_command)


def backup_command(config: Config, options: argparse.Namespace) -> int:
    with (
        database_to_read(config) as url,
        psycopg.connect(url) as db,
        new_archive(options.file) as archive,
    ):
        _begin(db)
        described = _write_tables(db, archive)
        path = config.data_dir / KEY_RING_FILE
        # A machine that makes backups may have no key ring.
        if path.exists():
            run_async(verify_keys(config, described))
        _write_checkpoints(config.data_dir / CHECKPOINTS, archive)
        archive.writestr(DESCRIPTION, described.to_json())
    keys = " and ".join(described.canaries) or "none"
    print(f"backed up {described.position} events; root keys needed: {keys}")
    return 0


def _begin(db: Connection) -> None:
    """Begin the transaction that reads everything as of one point in time.

    :raises MigrationError: the database is older than any that can be upgraded
    """
    with_baseline(dict(db.execute(APPLIED).fetchall()))
    db.rollback()
    db.isolation_level = IsolationLevel.REPEATABLE_READ
    db.read_only = True
    db.execute("SET LOCAL statement_timeout = 0")
    # Before that point in time, which the first query sets: what it saw in a table is
    # gone when the table is emptied, and other rows have its name.
    db.execute(KEEP_RECEIPTS)


async def verify_keys(config: Config, described: Description) -> int:
    """Refuse a key ring that doesn't belong to the backup.

    :raises ConfigError: it is missing, damaged, or another one
    """
    path = config.data_dir / KEY_RING_FILE
    ring = KeyRing.load(
        path, root=await outside_root_keys(config, config.wait_root_key_s)
    )
    canaries = described.canaries.items()
    await verify_canaries(
        [(each, bytes.fromhex(text)) for each, text in canaries], ring
    )
    return 0


def _write_tables(db: Connection, archive: zipfile.ZipFile) -> Description:
    head = db.execute("SELECT log_id, epoch, position FROM events.head").fetchone()
    assert head is not None
    migrations = db.execute(APPLIED)
    found = db.execute(TABLES).fetchall()
    return Description(
        version=__version__,
        log_id=str(head[0]),
        epoch=str(head[1]),
        position=head[2],
        migrations=dict(migrations.fetchall()),
        canaries=dict(db.execute(CANARIES).fetchall()),
        tables=[_write_table(db, archive, *table) for table in found],
    )


def _write_table(
    db: Connection, archive: zipfile.ZipFile, name: str, columns: list[str]
) -> Table:
    statement = SQL(COPY).format(
        Identifier("events", name), SQL(", ").join(map(Identifier, columns))
    )
    table = Table(name=name, columns=columns, rows=0)
    with (
        archive.open(table.member, "w", force_zip64=True) as member,
        db.cursor() as cursor,
    ):
        with cursor.copy(statement) as copied:
            for part in copied:
                member.write(part)
        return Table(name=name, columns=columns, rows=cursor.rowcount)


def _write_checkpoints(folder: Path, archive: zipfile.ZipFile) -> None:
    if not folder.is_dir():
        return
    for file in sorted(folder.iterdir()):
        if CHECKPOINT_NAME.fullmatch(file.name) and file.is_file():
            archive.write(file, f"{CHECKPOINTS}/{file.name}")
