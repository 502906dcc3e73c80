"""The SQL of a page of the session list.

The list is walked in its order along an index, from the newest session down, and
stops after a page. Sessions that started in the window come first. Those that
started before it and were still active in it are all older; they are looked for
only when the first kind doesn't fill the page, by the index over times of activity.

The page that is asked for most, of sessions by nothing but time, has a statement of
its own that looks for the first kind alone: the same plan is best for everybody, so
PostgreSQL keeps one. Making a plan takes five times as long as such a page.
"""

from functools import lru_cache
from typing import LiteralString

from psycopg.sql import SQL, Composable, Composed

# More than there are sets of conditions, of either scope, and pages of usual sizes.
STATEMENTS_MAX = 256

POSITION = SQL("""
    (SELECT coalesce(min(CASE WHEN p.epoch = h.epoch THEN p.position ELSE 0 END), 0)
       FROM read.position p, events.head h
      WHERE p.follower IN ('sessions', 'agents'))
""")
COLUMNS = SQL("""
    s.id, s.session_id, s.agent_id, s.user_id, s.started_at,
    s.ended_at IS NOT NULL AS has_ended, s.last_active_at, s.rendered,
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
    SELECT {columns}, {position} AS position, s.id IS NULL AS is_empty
      FROM (SELECT) AS always
      LEFT JOIN (
           page
           JOIN read.session s ON s.id = page.id
           {texts}
      ) ON true
     ORDER BY s.started_at DESC, s.id DESC
""").format(position=POSITION, columns=COLUMNS, texts=TEXTS)
NEWEST = SQL("ORDER BY s.started_at DESC, s.id DESC LIMIT {reach}")
REACH = SQL("%(reach)s")
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
# Those that leave the best plan what it is.
TIMES = frozenset({"after", "end_time"})


@lru_cache(maxsize=STATEMENTS_MAX)
def full_page(names: tuple[str, ...], *, everything: bool, limit: int) -> bytes:
    """Return what finds a page, if as many sessions started in the window."""
    # The limit stands in the text: PostgreSQL thinks a plan dear whose limit it
    # doesn't know, and would make one for each question after all.
    statement = FULL_PAGE.format(
        managed=MANAGED,
        recent=_recent(names, everything=everything, reach=SQL("{}").format(limit)),
        shown=SHOWN,
    )
    return _shortened(statement)


@lru_cache(maxsize=STATEMENTS_MAX)
def page(names: tuple[str, ...], *, everything: bool) -> bytes:
    """Return what finds any page; ``names`` are keys of :data:`CONDITIONS`."""
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
        shown=SHOWN,
    )
    return _shortened(statement)


def _recent(names: tuple[str, ...], *, everything: bool, reach: Composable) -> Composed:
    scope = ALL if everything else VISIBLE
    return scope.format(
        conditions=SQL(" AND ").join(
            [IN_WINDOW, *(SQL(CONDITIONS[name]) for name in names)]
        ),
        newest=NEWEST.format(reach=reach),
    )


def _shortened(statement: Composed) -> bytes:
    # Without the indentation it is short enough for psycopg to remember its parse.
    return b" ".join(statement.as_bytes(None).split())
