"""Count the sessions and users of groups, for costs by session and by user.

Both may belong to several groups, so that counts of parts have no sum: they are counted
from the turns themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import orjson
from psycopg.sql import SQL, Composed, Identifier

from projections.engine.rows import ROWS_AT_ONCE, fetched_in_turns
from projections.usage.form import Form
from projections.usage.statements import SINCE, UNTIL, starts_at
from service.database import Db
from service.pacing import next_turn

FOLLOWERS: Final = ("sessions",)
COUNTS: Final = """
    WITH visible AS (
         SELECT t.session, s.agent_id, s.user_id, m.*, {starts_at} AS starts_at
           FROM read.session_turn t
           JOIN read.session s ON s.id = t.session
           CROSS JOIN LATERAL (
                SELECT t.provider, t.model, t.priced_as, t.pricing_rule
                 WHERE t.shares IS NULL
                UNION ALL
                SELECT * FROM json_to_recordset(t.shares::json) AS share(
                       provider text, model text, priced_as text, pricing_rule text)
           ) m
          WHERE t.started_at >= {since}
            AND t.started_at < {until}
            AND (%(agent_id)s::uuid IS NULL OR s.agent_id = %(agent_id)s)
            AND (%(user_id)s::uuid IS NULL OR s.user_id = %(user_id)s)
            AND (%(provider)s::text IS NULL OR m.provider = %(provider)s)
            AND (%(model)s::text IS NULL OR m.model = %(model)s)
            AND (%(everything)s OR s.user_id = %(caller)s OR s.agent_id IN (
                 SELECT agent_id FROM read.agent_manager WHERE user_id = %(caller)s))
    )
    SELECT key, count(DISTINCT session), count(DISTINCT user_id)
      FROM (SELECT session, user_id, jsonb_build_array({keys}) AS key FROM visible) v
     WHERE key = ANY (SELECT jsonb_array_elements(%(groups)s::jsonb))
     GROUP BY key
"""


@dataclass(frozen=True, slots=True)
class UnitCounts:
    """How many sessions have a turn in a group, and of how many users."""

    sessions: int
    users: int


async def add_unit_counts(
    db: Db, form: Form, wanted: Mapping[str, Any], groups: Sequence[Any]
) -> None:
    """Count for some groups of usage."""
    if len(groups) > ROWS_AT_ONCE:
        await next_turn()
    keys = [_key(form, group) for group in groups]
    cursor = await db.execute(
        _statement(form), {**wanted, "groups": orjson.dumps(keys).decode()}
    )
    counted = {
        tuple(key): UnitCounts(sessions, users)
        for key, sessions, users in await fetched_in_turns(cursor)
    }
    for key, group in zip(keys, groups, strict=True):
        # Usage and sessions have followers of their own, and one may be ahead.
        group.units = counted.get(tuple(key), UnitCounts(0, 0))


def _key(form: Form, group: Any) -> list[Any]:
    at: datetime | None = group.starts_at
    values: list[Any] = [None if at is None else int(at.timestamp())]
    for column in form.columns:
        value = getattr(group, column)
        values.append(None if value is None else str(value))
    return values


def _statement(form: Form) -> Composed:
    keys = [
        SQL("extract(epoch FROM starts_at)::bigint"),
        *map(Identifier, form.columns),
    ]
    return SQL(COUNTS).format(
        starts_at=starts_at(form.period, SQL("t.started_at")),
        since=SINCE,
        until=UNTIL,
        keys=SQL(", ").join(keys),
    )
