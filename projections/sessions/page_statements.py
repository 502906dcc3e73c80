"""The SQL of a page of the session list.

An index scan in the list's order, newest session first, stops after a page. Sessions
that started in the window come first. Sessions that started before it and were still
active in it are all older; only when the first kind doesn't fill the page, the index
over times of activity finds them.

The most frequent page, filtered by nothing but time, has a separate statement that
finds the first kind alone. The same plan is best for all its parameters, so PostgreSQL
caches it: planning takes five times as long as executing it.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, LiteralString

from aiohttp import web
from psycopg.sql import SQL, Composable, Composed, Literal

# Enough for all sets of conditions in both scopes, and for common page sizes.
STATEMENTS_MAX = 256
# Whether tool calls are recorded, in a table of the gateway.
HAS_TOOL_CALLS: Final = web.AppKey("has_tool_calls", bool)
TOOL_CALL_COUNTS = SQL("read.tool_call_count")
NO_TOOL_CALL_COUNTS = SQL("""
    (SELECT NULL::uuid AS agent_id, '' AS session_id, '' AS trace_id,
            0::bigint AS calls, 0::bigint AS errors
      WHERE false)
""")

# The page reflects the lowest position. Which sessions there are is known up to the
# position of their own follower: a cursor has that one.
REFLECTED = SQL("""
    (SELECT coalesce(min(each.position), 0) AS position,
            coalesce(min(each.position) FILTER (WHERE each.follower = 'sessions'), 0)
                AS sessions_position
       FROM (SELECT p.follower,
                    CASE WHEN p.epoch = h.epoch THEN p.position ELSE 0 END AS position
               FROM read.position p, events.head h
              WHERE p.follower IN ({followers})) AS each)
""")
# Names of columns are those of the fields of SessionRow.
COLUMNS = SQL("""
    s.id, s.session_id, s.agent_id, s.user_id, s.started_at,
    s.ended_at IS NOT NULL AS has_ended, s.last_active_at, s.rendered,
    i.version AS input_version, i.sealed_input, i.input_truncated,
    o.version AS output_version, o.sealed_output, o.output_truncated,
    k.destroyed_at IS NOT NULL AS is_erased,
    t.calls AS tool_calls, t.errors AS tool_call_errors
""")
TEXTS = SQL("""
    LEFT JOIN read.session_turn i
      ON i.session = s.id AND i.version = s.first_input_version
    LEFT JOIN read.session_turn o
      ON o.session = s.id AND o.version = s.last_output_version
    LEFT JOIN events.user_key k ON k.user_id = s.user_id
    LEFT JOIN {tool_calls} t
      ON t.agent_id = s.agent_id AND t.session_id = s.session_id AND t.trace_id = ''
""")
MANAGED = SQL("""
    managed AS MATERIALIZED (
         SELECT agent_id FROM read.agent_manager WHERE user_id = %(caller)s
    )
""")
FULL_PAGE = SQL("""
    WITH {managed}, page AS MATERIALIZED (
         {recent}
    )
    {shown}
""")
PAGE = SQL("""
    WITH {managed}, recent AS MATERIALIZED (
         {recent}
    ), earlier AS MATERIALIZED (
         {earlier}
    ), page AS (
         SELECT id, started_at
           FROM (SELECT * FROM recent UNION ALL SELECT * FROM earlier) AS both_kinds
          ORDER BY started_at DESC, id DESC
         OFFSET %(offset)s LIMIT %(limit)s
    )
    {shown}
""")
SHOWN = SQL("""
    SELECT {columns}, reflected.position, reflected.sessions_position,
           s.id IS NULL AS is_empty
      FROM {reflected} AS reflected
      LEFT JOIN (
           page
           JOIN read.session s ON s.id = page.id
           {texts}
      ) ON true
     ORDER BY s.started_at DESC, s.id DESC
""")
NEWEST = SQL("ORDER BY s.started_at DESC, s.id DESC LIMIT {reach}")
REACH = SQL("%(reach)s")
IN_WINDOW = SQL("s.started_at >= %(window_start)s")
# Finds nothing when the first kind has filled the page.
BEFORE_WINDOW = SQL("""
    s.started_at < %(window_start)s
    AND tstzrange(s.started_at, s.last_active_at, '[]') @> %(window_start)s
    AND (SELECT count(*) FROM recent) < %(reach)s
""")
ALL = SQL("""
    SELECT s.id, s.started_at FROM read.session s
     WHERE {conditions} {newest}
""")
# For each agent that the caller manages, and for the caller, at most a page is needed.
# UNION removes sessions that are found twice.
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
# OFFSET 0 makes the planner search by time first.
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
# Conditions under which the same plan stays best.
TIMES = frozenset({"after", "end_time"})


def followers_read(*, tool_calls: bool) -> Sequence[str]:
    """Return the followers whose tables the statements read."""
    return ("sessions", "agents", *(["gateway"] if tool_calls else []))


def texts_joined(*, tool_calls: bool) -> Composed:
    """Return the joins of what a session shows beside its row."""
    return TEXTS.format(
        tool_calls=TOOL_CALL_COUNTS if tool_calls else NO_TOOL_CALL_COUNTS
    )


@lru_cache(maxsize=STATEMENTS_MAX)
def full_page(
    names: tuple[str, ...], *, everything: bool, limit: int, tool_calls: bool
) -> bytes:
    """Return the statement for a page that sessions started in the window fill."""
    # The limit is part of the text: without knowing it, PostgreSQL overestimates the
    # cost of a generic plan, and would plan each execution.
    statement = FULL_PAGE.format(
        managed=MANAGED,
        recent=_recent(names, everything=everything, reach=SQL("{}").format(limit)),
        shown=_shown(tool_calls=tool_calls),
    )
    return _shortened(statement)


@lru_cache(maxsize=STATEMENTS_MAX)
def page(names: tuple[str, ...], *, everything: bool, tool_calls: bool) -> bytes:
    """Return the statement for any page; ``names`` are keys of :data:`CONDITIONS`."""
    found = [SQL(CONDITIONS[name]) for name in names]
    earlier = found if everything else [*found, IS_VISIBLE]
    statement = PAGE.format(
        managed=MANAGED,
        recent=_recent(names, everything=everything, reach=REACH),
        earlier=EARLIER.format(
            before=BEFORE_WINDOW,
            conditions=SQL(" AND ").join(earlier or [SQL("true")]),
            newest=NEWEST.format(reach=REACH),
        ),
        shown=_shown(tool_calls=tool_calls),
    )
    return _shortened(statement)


def _shown(*, tool_calls: bool) -> Composed:
    followers = map(Literal, followers_read(tool_calls=tool_calls))
    return SHOWN.format(
        reflected=REFLECTED.format(followers=SQL(", ").join(followers)),
        columns=COLUMNS,
        texts=texts_joined(tool_calls=tool_calls),
    )


def _recent(names: tuple[str, ...], *, everything: bool, reach: Composable) -> Composed:
    scope = ALL if everything else VISIBLE
    return scope.format(
        conditions=SQL(" AND ").join(
            [IN_WINDOW, *(SQL(CONDITIONS[name]) for name in names)]
        ),
        newest=NEWEST.format(reach=reach),
    )


def _shortened(statement: Composed) -> bytes:
    # Without indentation it is short enough for psycopg's cache of parsed queries.
    return b" ".join(statement.as_bytes(None).split())
