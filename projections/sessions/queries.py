"""Questions about sessions, each one statement that also tells its position.

The list is walked in its order along an index, from the newest session down, and
stops after a page. Sessions that started in the window come first. Those that
started before it and were still active in it are all older; they are looked for
only when the first kind doesn't fill the page, by the index over times of activity.
"""

from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any, LiteralString
from uuid import UUID

from psycopg import AsyncConnection
from psycopg.rows import class_row
from psycopg.sql import SQL

from projections.sessions.cursor import Cursor
from projections.sessions.trace_store import SessionKey

# Whose tables these questions read; POSITION is the least of theirs.
FOLLOWERS = ("sessions", "agents")
# As many as there are sets of conditions, of either scope.
STATEMENTS_MAX = 256

POSITION = SQL("""
    (SELECT coalesce(min(CASE WHEN p.epoch = h.epoch THEN p.position ELSE 0 END), 0)
       FROM read.position p, events.head h
      WHERE p.follower IN ('sessions', 'agents'))
""")
COLUMNS = SQL("""
    s.id, s.session_id, s.agent_id, s.user_id, s.started_at,
    s.ended_at IS NOT NULL AS has_ended, s.last_active_at, s.facts, s.figures,
    i.version AS input_version, i.sealed_input, i.input_truncated,
    o.version AS output_version, o.sealed_output, o.output_truncated,
    k.destroyed_at IS NOT NULL AS is_erased
""")
TEXTS = SQL("""
    LEFT JOIN read.session_turn i
      ON i.session = s.id AND i.version = s.first_input_version
    LEFT JOIN read.session_turn o
      ON o.session = s.id AND o.version = s.last_output_version
    LEFT JOIN events.user_key k ON k.user_id = s.user_id
""")
PAGE = SQL("""
    WITH managed AS MATERIALIZED (
         SELECT agent_id FROM read.agent_manager WHERE user_id = %(caller)s
    ), recent AS MATERIALIZED (
         {recent}
    ), earlier AS MATERIALIZED (
         {earlier}
    ), page AS (
         SELECT id, started_at
           FROM (SELECT * FROM recent UNION ALL SELECT * FROM earlier) AS both_kinds
          ORDER BY started_at DESC, id DESC
         OFFSET %(offset)s LIMIT %(limit)s
    )
    SELECT {position} AS position, s.id IS NULL AS is_empty,
           {columns}
      FROM (SELECT) AS always
      LEFT JOIN (
           page
           JOIN read.session s ON s.id = page.id
           {texts}
      ) ON true
     ORDER BY s.started_at DESC, s.id DESC
""")
NEWEST = SQL("ORDER BY s.started_at DESC, s.id DESC LIMIT %(reach)s")
IN_WINDOW = SQL("s.started_at >= %(window_start)s")
# The first kind has filled the page: then there is nothing to look for.
BEFORE_WINDOW = SQL("""
    s.started_at < %(window_start)s
    AND tstzrange(s.started_at, s.last_active_at, '[]') @> %(window_start)s
    AND (SELECT count(*) FROM recent) < %(reach)s
""")
ALL = SQL("""
    SELECT s.id, s.started_at FROM read.session s
     WHERE {conditions} {newest}
""")
# Of each agent that the caller manages, and of the caller, no more than a page can
# be on the page. The same session may be found twice.
VISIBLE = SQL("""
    SELECT s.id, s.started_at FROM (
           SELECT s.id, s.started_at
             FROM managed
            CROSS JOIN LATERAL (
                  SELECT s.id, s.started_at FROM read.session s
                   WHERE s.agent_id = managed.agent_id AND {conditions}
                  {newest}) AS s
            UNION
           (SELECT s.id, s.started_at FROM read.session s
             WHERE s.user_id = %(caller)s AND {conditions}
            {newest})
    ) AS s {newest}
""")
# Found by time first, whatever the planner thinks of the other conditions.
EARLIER = SQL("""
    SELECT s.id, s.started_at FROM (
           SELECT s.* FROM read.session s WHERE {before} OFFSET 0
    ) AS s
     WHERE {conditions} {newest}
""")
IS_VISIBLE = SQL("""
    (s.user_id = %(caller)s OR s.agent_id IN (SELECT agent_id FROM managed))
""")
CONDITIONS: dict[str, LiteralString] = {
    "after": "(s.started_at, s.id) < (%(after_start)s, %(after_id)s)"
    " AND s.opened_position <= %(after_position)s",
    "end_time": "s.started_at < %(end_time)s",
    "agent_id": "s.agent_id = %(agent_id)s",
    "user_id": "s.user_id = %(user_id)s",
    "with_error": "s.has_error",
    "without_error": "NOT s.has_error",
    "session_id_prefix": "s.session_id LIKE %(session_id_prefix)s",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """Which part of which list; ``everything`` isn't limited to the caller's own."""

    caller: UUID
    everything: bool
    window_start: datetime
    limit: int
    offset: int = 0
    after: Cursor | None = None
    end_time: datetime | None = None
    agent_id: UUID | None = None
    user_id: UUID | None = None
    has_error: bool | None = None
    session_id_prefix: str | None = None


@dataclass(slots=True, kw_only=True)
class SessionRow:
    """A session as the list shows it; texts are sealed.

    ``is_erased``: the key of its user is destroyed, whatever a cache still holds.
    """

    id: UUID
    session_id: str
    agent_id: UUID
    user_id: UUID
    started_at: datetime
    has_ended: bool
    last_active_at: datetime
    facts: str
    figures: str
    input_version: int | None
    sealed_input: str | None
    input_truncated: bool | None
    output_version: int | None
    sealed_output: str | None
    output_truncated: bool | None
    is_erased: bool

    @property
    def key(self) -> SessionKey:
        """Name the session to a trace store."""
        return SessionKey(
            session_id=self.session_id,
            agent_id=self.agent_id,
            has_ended=self.has_ended,
            last_active_at=self.last_active_at,
        )


@dataclass(slots=True, kw_only=True)
class PageRow(SessionRow):
    """A session of a page; without any there is one empty row, for the position."""

    position: int
    is_empty: bool


async def session_page(
    db: AsyncConnection[Any], asked: Asked
) -> tuple[list[PageRow], int]:
    """Return up to ``limit`` sessions, newest first, and the position they reflect."""
    async with db.cursor(row_factory=class_row(PageRow)) as cursor:
        # A plan made for these very values: a rare prefix and a common one, or a
        # caller with three sessions and one with a million, are different questions.
        await cursor.execute(
            page_statement(asked), page_parameters(asked), prepare=False
        )
        rows = await cursor.fetchall()
    position = rows[0].position
    return [row for row in rows if not row.is_empty], position


def page_statement(asked: Asked) -> bytes:
    return _statement(_conditions(asked), everything=asked.everything)


def page_parameters(asked: Asked) -> dict[str, object]:
    prefix = asked.session_id_prefix
    after = asked.after
    return {
        "caller": asked.caller,
        "window_start": asked.window_start,
        "limit": asked.limit,
        "offset": asked.offset,
        "reach": asked.offset + asked.limit,
        "after_start": after and after.started_at,
        "after_id": after and after.id,
        "after_position": after and after.position,
        "end_time": asked.end_time,
        "agent_id": asked.agent_id,
        "user_id": asked.user_id,
        "session_id_prefix": prefix and _like(prefix),
    }


@lru_cache(maxsize=STATEMENTS_MAX)
def _statement(names: tuple[str, ...], *, everything: bool) -> bytes:
    found = [SQL(CONDITIONS[name]) for name in names]
    recent = ALL if everything else VISIBLE
    earlier = found if everything else [*found, IS_VISIBLE]
    statement = PAGE.format(
        position=POSITION,
        columns=COLUMNS,
        texts=TEXTS,
        recent=recent.format(
            conditions=SQL(" AND ").join([IN_WINDOW, *found]), newest=NEWEST
        ),
        earlier=EARLIER.format(
            before=BEFORE_WINDOW,
            conditions=SQL(" AND ").join(earlier or [SQL("true")]),
            newest=NEWEST,
        ),
    )
    # Without the indentation it is short enough for psycopg to remember its parse.
    return b" ".join(statement.as_bytes(None).split())


def _conditions(asked: Asked) -> tuple[str, ...]:
    return tuple(
        name
        for name, wanted in {
            "after": asked.after is not None,
            "end_time": asked.end_time is not None,
            "agent_id": asked.agent_id is not None,
            "user_id": asked.user_id is not None,
            "with_error": asked.has_error is True,
            "without_error": asked.has_error is False,
            "session_id_prefix": asked.session_id_prefix is not None,
        }.items()
        if wanted
    )


def _like(prefix: str) -> str:
    escaped = prefix.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return escaped + "%"
