"""What the database itself forbids the service and its readers."""

import asyncio

import pytest
from psycopg import AsyncConnection
from psycopg.errors import InsufficientPrivilege, RaiseException
from psycopg.sql import SQL, Identifier

from projections.catalog import follower_conninfo
from projections.engine.rebuild import rebuild
from service.database import READER_ROLE, service_conninfo
from service.event_log.log import EventLog
from service.resources import Resources
from tests.support.callers import Callers
from tests.support.event_log.logs import open_ledger
from tests.support.projectors import PROJECTORS

FORBIDDEN_TO_THE_SERVICE = [
    "UPDATE events.stored_event SET topic = 'x'",
    "DELETE FROM events.stored_event",
    "TRUNCATE events.stored_event",
    "INSERT INTO events.stored_event SELECT * FROM events.stored_event",
    (
        "INSERT INTO events.stored_event SELECT * FROM events.stored_event"
        " ON CONFLICT DO NOTHING"
    ),
    (
        "MERGE INTO events.stored_event e USING (VALUES (1)) v (x) ON true"
        " WHEN MATCHED THEN DELETE"
    ),
    "UPDATE events.head SET position = 0",
    "UPDATE events.head SET epoch = gen_random_uuid()",
    "DELETE FROM events.head",
    "INSERT INTO events.receipt VALUES ('k', '', '', 1, now())",
    "UPDATE events.receipt SET answer = ''",
    "TRUNCATE events.receipt",
    "INSERT INTO events.receipt_previous VALUES ('k', '', '', 1, now())",
    "UPDATE events.receipt_previous SET answer = ''",
    "DELETE FROM events.receipt_previous",
    "ALTER TABLE events.receipt RENAME TO receipt_next",
    "UPDATE events.receipt_rotation SET rotated_at = now()",
    "ALTER TABLE events.stored_event DISABLE TRIGGER append_only",
    "DROP TRIGGER append_only ON events.stored_event",
    "ALTER TABLE events.stored_event ADD COLUMN x int",
    "DROP TABLE events.stored_event",
    (
        "CREATE OR REPLACE FUNCTION events.refuse_change() RETURNS trigger"
        " LANGUAGE plpgsql AS 'BEGIN RETURN NEW; END'"
    ),
    "INSERT INTO events.merkle_node VALUES (0, 0, '')",
    "UPDATE events.merkle_node SET hash = ''",
    "DELETE FROM events.merkle_node",
    "TRUNCATE events.merkle_node",
    "UPDATE events.merkle_tree SET size = 0",
    "ALTER TABLE events.merkle_node ADD COLUMN x int",
    "INSERT INTO events.checkpoint VALUES (gen_random_uuid(), 1, '', '')",
    "UPDATE events.checkpoint SET note = ''",
    "DELETE FROM events.checkpoint",
    (
        "CREATE OR REPLACE FUNCTION events.leaf_hash(e events.stored_event)"
        " RETURNS bytea LANGUAGE sql AS 'SELECT NULL::bytea'"
    ),
    "CREATE TABLE events.own (x int)",
    "CREATE RULE r AS ON INSERT TO events.stored_event DO INSTEAD NOTHING",
    "SET session_replication_role = replica",
    "DO $$ BEGIN LOCK TABLE events.stored_event IN EXCLUSIVE MODE; END $$",
]
FORBIDDEN_TO_A_READER = [
    *FORBIDDEN_TO_THE_SERVICE,
    "SELECT * FROM events.receipt",
    "SELECT * FROM events.receipt_previous",
    "SELECT * FROM events.valid_receipt",
    "SELECT events.rotate_receipts()",
    "SELECT * FROM events.snapshot",
    "SELECT * FROM events.sealed_value",
    "SELECT * FROM events.user_key",
    "SELECT * FROM events.root_key_canary",
    "SELECT * FROM events.retired_root_key",
    "UPDATE read.position SET position = 0",
    "CREATE TABLE read.own (x int)",
    "SELECT events.append(gen_random_uuid(), " + ", ".join(21 * ["'{}'"]) + ")",
]


@pytest.mark.parametrize("statement", FORBIDDEN_TO_THE_SERVICE)
async def test_the_service_cant(
    log: EventLog, resources: Resources, statement: str
) -> None:
    await open_ledger(log, "kept")

    async with resources.pool.connection() as db:
        with pytest.raises(InsufficientPrivilege):
            await db.execute(statement)


@pytest.mark.parametrize("statement", FORBIDDEN_TO_A_READER)
async def test_a_reader_cant(database_url: str, statement: str) -> None:
    conninfo = service_conninfo(database_url, role=READER_ROLE)
    async with await AsyncConnection.connect(conninfo, autocommit=True) as db:
        with pytest.raises(InsufficientPrivilege):
            await db.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE events.stored_event SET topic = 'x'",
        "DELETE FROM events.stored_event",
        "TRUNCATE events.stored_event",
    ],
)
async def test_even_the_owner_is_reminded_that_events_are_append_only(
    owner: AsyncConnection, statement: str
) -> None:
    with pytest.raises(RaiseException, match="append-only"):
        await owner.execute(statement)


async def test_an_auditor_still_reads_a_rebuilt_table(
    callers: Callers, resources: Resources
) -> None:
    await callers.user("ann")
    projector = next(each for each in PROJECTORS if each.name == "connectors")
    conninfo = follower_conninfo(resources.database_url)
    await rebuild(conninfo, resources.log.mapper, projector)

    assert await _readable(resources) >= 1


async def _readable(resources: Resources) -> int:
    """Read everything that an auditor should be able to; return the events."""
    conninfo = service_conninfo(resources.database_url, role=READER_ROLE)
    async with await AsyncConnection.connect(conninfo, autocommit=True) as db:
        tables = await db.execute(
            "SELECT tablename FROM pg_tables"
            " WHERE schemaname = 'read' AND tablename <> 'generation'"
        )
        for (table,) in await tables.fetchall():
            await db.execute(SQL("SELECT * FROM read.{}").format(Identifier(table)))
        events = await db.execute("SELECT count(*) FROM events.stored_event")
        row = await events.fetchone()
        assert row is not None
        return int(row[0])


async def test_a_caller_cant_hide_an_operator_in_the_search_path(
    log: EventLog, resources: Resources
) -> None:
    """The append function has its owner's rights, so its path is its own."""
    async with resources.pool.connection() as db:
        await db.execute("SET search_path = pg_temp, pg_catalog")
        await db.execute(
            "CREATE FUNCTION pg_temp.unnest(int[]) RETURNS SETOF int"
            " LANGUAGE sql AS 'SELECT 1/0'"
        )
        await db.execute("RESET search_path")
    await asyncio.gather(*(open_ledger(log, f"{n}") for n in range(3)))
