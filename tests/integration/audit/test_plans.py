"""The trail's questions walk an index, in order, as far as a page needs."""

from typing import Any
from uuid import uuid4

import pytest
from psycopg import AsyncConnection
from psycopg.sql import Composed

from projections.audit.trail.filters import Filters
from projections.audit.trail.projector import AuditTrailProjector
from projections.audit.trail.queries import Order, _statement

ENTRIES = 20_000
FILL = f"""
    INSERT INTO audit_entry
    SELECT n, 'connector.' || CASE WHEN n % 10 = 0 THEN 'retired' ELSE 'registered' END,
           CASE WHEN n % 3 = 0 THEN 'agent' ELSE 'connector' END,
           'user' || n % 100, 'request' || n
      FROM generate_series(1, {ENTRIES}) n;
    INSERT INTO audit_mention
    SELECT gen_random_uuid(), n FROM generate_series(1, {ENTRIES}) n;
    INSERT INTO audit_mention
    SELECT '00000000-0000-4000-8000-000000000001', n
      FROM generate_series(1, {ENTRIES}, 5) n;
    ANALYZE audit_entry, audit_mention
"""  # noqa: S608 # ours
SOUGHT = "00000000-0000-4000-8000-000000000001"
FILTERS: list[dict[str, Any]] = [
    {"actor": "user7"},
    {"kind": "connector.retired"},
    {"kind": "agent"},
    {"request_id": "request77"},
    {"resource": SOUGHT},
    {"resource": uuid4()},
    {"actor": "user7", "kind": "connector.retired"},
    {"resource": SOUGHT, "kind": "agent"},
    {"resource": SOUGHT, "actor": "user7"},
]


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(each for part in plan.get("Plans", ()) for each in nodes(part))]


@pytest.mark.parametrize("order", ["newest", "oldest"])
async def test_a_page_reads_little(database_url: str, order: Order) -> None:
    async with (
        await AsyncConnection.connect(database_url, autocommit=True) as db,
        db.transaction(force_rollback=True),
    ):
        await db.execute("SET LOCAL search_path = read")
        await db.execute(AuditTrailProjector().table_sql)
        await db.execute(FILL)
        for each in FILTERS:
            filters = Filters(first=1, last=ENTRIES, **each)
            plan = await _explained(db, _statement(filters, order), filters)
            used = nodes(plan["Plan"])
            assert not [node for node in used if node["Node Type"] == "Seq Scan"], each
            touched = sum(
                plan["Plan"][name]
                for name in ("Shared Hit Blocks", "Shared Read Blocks")
            )
            assert touched < 400, (each, touched, used)


async def _explained(
    db: AsyncConnection[Any], statement: Composed, filters: Filters
) -> dict[str, Any]:
    words = {
        "first": filters.first,
        "last": filters.last,
        "actor": filters.actor,
        "kind": filters.kind,
        "resource": filters.resource,
        "request_id": filters.request_id,
        "limit": 51,
    }
    cursor = await db.execute(
        b"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) " + statement.as_bytes(db), words
    )
    row = await cursor.fetchone()
    assert row is not None
    plan: dict[str, Any] = row[0][0]
    return plan
