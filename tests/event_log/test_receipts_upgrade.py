"""Receipts in two tables, with processes and receipts of versions before them."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from psycopg import AsyncConnection, sql

from service.connection_pool import connection_pool
from service.database import service_conninfo
from service.event_log.receipt_retention import RETENTION, delete_expired
from service.migrate import migrate
from tests.older_database import database_before

BEFORE = "0015"
# Empty arrays before and after those of commands and receipts, in each form of the
# function that processes of some version call.
FORMS = {"0001": (8, 4), "0013": (9, 4), "0014": (9, 6)}
APPEND = """
    SELECT replayed_answers
      FROM events.append(
           (SELECT epoch FROM events.head), {before},
           ARRAY[gen_random_uuid()], '{{"{{}}"}}',
           '{{1}}', ARRAY[%(key)s::bytea], ARRAY[''::bytea], ARRAY[%(answer)s::bytea],
           {after})
"""
DELETE_EXPIRED = """
    DELETE FROM events.receipt
     WHERE key IN (
           SELECT key FROM events.receipt
            WHERE recorded_at < clock_timestamp() - %(retention)s
            ORDER BY recorded_at
            LIMIT 1000)
"""


@pytest.fixture
def old_url(postgres: str) -> Iterator[str]:
    """The URL of a database as the version before the second table leaves it."""
    with database_before(postgres, BEFORE) as url:
        yield url


async def keep(db: AsyncConnection, form: str, key: str, answer: str) -> str:
    """Return the answer that counts for a key, after a command by one of the forms."""
    before, after = (sql.SQL(", ").join([sql.SQL("'{}'")] * n) for n in FORMS[form])
    cursor = await db.execute(
        sql.SQL(APPEND).format(before=before, after=after),
        {"key": key.encode(), "answer": answer.encode()},
        prepare=True,
    )
    row = await cursor.fetchone()
    assert row is not None
    return bytes(row[0][0]).decode() if row[0] else answer


async def test_keys_count_in_all_versions_before_during_and_after_an_upgrade(
    old_url: str,
) -> None:
    async with (
        await AsyncConnection.connect(
            service_conninfo(old_url), autocommit=True
        ) as process,
        await AsyncConnection.connect(old_url, autocommit=True) as owner,
        connection_pool(service_conninfo(old_url)) as pool,
    ):
        for form in FORMS:
            assert await keep(process, form, f"before {form}", form) == form

        migrate(old_url)

        # On the same connection, which had planned the functions before.
        for form in FORMS:
            assert await keep(process, form, f"after {form}", form) == form
        for form in FORMS:
            for kept in FORMS:
                assert await keep(process, form, f"before {kept}", "again") == kept
                assert await keep(process, form, f"after {kept}", "again") == kept
        deleted = await process.execute(DELETE_EXPIRED, {"retention": RETENTION})
        assert deleted.rowcount == 0
        assert not await delete_expired(pool), "processes of earlier versions may run"

        await owner.execute(
            "UPDATE events.head SET recorded_at = recorded_at + %s",
            [RETENTION + timedelta(seconds=1)],
        )
        for form in FORMS:
            assert await keep(process, "0014", f"before {form}", "anew") == "anew"
        assert await delete_expired(pool)
        assert await keep(process, "0014", "before 0001", "again") == "anew"
