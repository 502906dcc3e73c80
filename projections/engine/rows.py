"""Rows of a query, made with room for others in between."""

from typing import Final, TypeVar

from psycopg import AsyncCursor

from service.pacing import Pace, next_turn

# As many as take a millisecond, even if they have many columns.
ROWS_AT_ONCE: Final = 25

Row = TypeVar("Row")


async def fetched_in_turns(
    cursor: AsyncCursor[Row], at_once: int = ROWS_AT_ONCE
) -> list[Row]:
    """Return what a statement has found, made in turns of the event loop.

    ``at_once`` must be smaller where rows are large.
    """
    rows: list[Row] = []
    if cursor.rowcount > at_once:
        await next_turn()
    pace = Pace()
    while part := await cursor.fetchmany(at_once):
        rows += part
        await pace.pause()
    return rows
