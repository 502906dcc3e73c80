"""The version of an aggregate as of a position, found by few probes."""

from typing import Any
from uuid import UUID, uuid4

import orjson
import pytest
from psycopg import AsyncConnection

from service.event_log import aggregate_reader
from service.event_log.aggregate_reader import SNAPSHOT, VERSION_AT, version_at
from service.event_log.log import EventLog
from service.event_log.snapshots import DELETE_UNPAID, PRICE, SNAPSHOT_INTERVAL
from tests.support.event_log.logs import enter, entering, open_ledger, run

LENGTH = 1000
PROBES_MAX = 12
DELETE = "DELETE FROM events.stored_event WHERE originator_id = %s"


async def positions(db: AsyncConnection, ledger_id: UUID) -> dict[int, int]:
    """Return the position of each version."""
    rows = await db.execute(
        "SELECT originator_version, notification_id FROM events.stored_event"
        " WHERE originator_id = %s",
        [ledger_id],
    )
    return dict(await rows.fetchall())


async def expect_right_at_each_position(
    log: EventLog, db: AsyncConnection, ledger_id: UUID
) -> None:
    known = await positions(db, ledger_id)
    for position in range((await log.head()).position + 2):
        versions = [each for each, at in known.items() if at <= position]
        found = await version_at(db, ledger_id, position)
        assert found == max(versions, default=None), position


async def scanned(db: AsyncConnection, statement: str, arguments: Any) -> float:
    """Return how many rows of tables a statement has looked at."""
    explained = "EXPLAIN (ANALYZE, FORMAT JSON) " + statement.replace("%b", "%s")
    row = await (await db.execute(explained, arguments)).fetchone()
    assert row is not None
    (plan,) = row[0] if isinstance(row[0], list) else orjson.loads(row[0])

    def rows(node: dict[str, Any]) -> float:
        own = (
            (node["Actual Rows"] + node.get("Rows Removed by Filter", 0))
            * node["Actual Loops"]
            if "Relation Name" in node
            else 0
        )
        return own + sum(map(rows, node.get("Plans", ())))

    return rows(plan["Plan"])


@pytest.mark.parametrize("length", [*range(1, 10), 15, 16, 17])
async def test_it_is_right_at_each_position(
    log: EventLog, owner: AsyncConnection, length: int
) -> None:
    other = await open_ledger(log, "another")
    ledger_id = await open_ledger(log, "looked at")
    for _ in range(length - 1):
        await enter(log, other, "between")
        await enter(log, ledger_id, "x")
    await enter(log, other, "after")

    await expect_right_at_each_position(log, owner, ledger_id)
    await expect_right_at_each_position(log, owner, other)


@pytest.mark.parametrize("missing", [[1], [2], [4], [8], [1, 2], [3, 4, 5], [7, 8]])
async def test_a_missing_version_does_no_harm(
    other_log: EventLog, owner: AsyncConnection, missing: list[int]
) -> None:
    ledger_id = await open_ledger(other_log, "damaged")
    await run(other_log, entering(ledger_id, *"abcdefg"))
    await owner.execute("ALTER TABLE events.stored_event DISABLE TRIGGER append_only")
    await owner.execute(
        f"{DELETE} AND originator_version = ANY (%s)", [ledger_id, missing]
    )

    await expect_right_at_each_position(other_log, owner, ledger_id)


async def test_an_aggregate_that_doesnt_exist_has_none(owner: AsyncConnection) -> None:
    assert await version_at(owner, uuid4(), 1) is None


async def test_neither_a_version_nor_a_snapshot_takes_a_scan_of_the_history(
    log: EventLog, owner: AsyncConnection
) -> None:
    """Neither to read nor to store one."""
    ledger_id = await open_ledger(log, "long")
    for _ in range(LENGTH // 100):
        await run(log, entering(ledger_id, *(["x"] * 100)))
        await log.snapshots.stop()

    for position in (1, LENGTH // 2, LENGTH):
        asked = {"id": ledger_id, "position": position}
        assert 0 < await scanned(owner, VERSION_AT, asked) <= PROBES_MAX
        asked_snapshot = [ledger_id, aggregate_reader.VERSION_MAX]
        assert 0 < await scanned(owner, SNAPSHOT, asked_snapshot) <= PROBES_MAX
    asked = {"id": ledger_id, "version": LENGTH + 1, "price": PRICE}
    between = LENGTH // 100 + SNAPSHOT_INTERVAL
    assert 0 < await scanned(owner, DELETE_UNPAID, asked) <= 2 * between
