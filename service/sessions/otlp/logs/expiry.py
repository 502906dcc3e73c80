"""Forget prompts, and where events went, after a day."""

from datetime import timedelta
from typing import Final, LiteralString

from service.database import Pool

KEPT_FOR: Final = timedelta(days=1)
FORGET_ROWS_MAX: Final = 10_000


def _forget(table: LiteralString) -> LiteralString:
    return f"""
        DELETE FROM {table}
         WHERE ctid = ANY (ARRAY(SELECT ctid
                                   FROM {table}
                                  WHERE kept_at < clock_timestamp() - %(kept_for)s
                                  ORDER BY kept_at
                                  LIMIT %(rows)s
                                    FOR UPDATE SKIP LOCKED))
    """  # noqa: S608 # of constants


FORGET: Final = (_forget("events.reported_prompt"), _forget("events.reported_event"))


async def delete_old_events(pool: Pool, *, kept_for: timedelta = KEPT_FOR) -> None:
    """Delete what was kept for long enough, in batches; safe in many processes."""
    for statement in FORGET:
        deleted = FORGET_ROWS_MAX
        while deleted == FORGET_ROWS_MAX:
            async with pool.connection() as db:
                cursor = await db.execute(
                    statement, {"kept_for": kept_for, "rows": FORGET_ROWS_MAX}
                )
                deleted = cursor.rowcount
