"""Writes to the sessions' read tables."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from psycopg.sql import SQL

from projections.engine.arrays import columns
from projections.sessions.resource import StoredSession
from projections.sessions.stored_json import rendered_by_sql
from service.database import Db


@dataclass(slots=True, kw_only=True)
class OpenedRow:
    """A session whose first event is among those that are applied now."""

    id: UUID
    session_id: str
    agent_id: str
    user_id: str
    opened_at: datetime
    opened_position: int
    ended_at: datetime | None
    version: int


@dataclass(slots=True, kw_only=True)
class TouchedRow:
    """A session of earlier events; without an end it keeps the one that it has."""

    id: UUID
    ended_at: datetime | None
    version: int


@dataclass(slots=True, kw_only=True)
class TurnRow:
    """A turn; its texts are encrypted."""

    session: UUID
    version: int
    turn_id: str
    trace_id: str | None
    started_at: datetime
    ended_at: datetime
    latency_us: int
    provider: str | None
    model: str | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cache_read_tokens: int | None
    cache_creation_tokens: int | None
    cost: Decimal | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    contract_id: str | None
    list_cost: Decimal | None
    list_currency: str | None
    reported_cost: Decimal | None
    estimated: str
    priced_at: datetime
    spans: int | None
    shares: str | None
    calls: str | None
    lacks_usage: bool
    is_error: bool
    input_truncated: bool
    output_truncated: bool
    sealed_error: str | None
    sealed_input: str | None
    sealed_output: str | None


@dataclass(slots=True, kw_only=True)
class RepricedRow:
    """The new cost of a turn; the names are those of ``TurnRow``."""

    session: UUID
    turn_id: str
    cost: Decimal | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: str | None
    contract_id: str | None
    list_cost: Decimal | None
    list_currency: str | None
    estimated: str
    priced_at: datetime
    shares: str | None
    lacks_usage: bool


INSERT_TURNS = """
    INSERT INTO session_turn (
           session, version, turn_id, trace_id, started_at, ended_at, latency_us,
           provider, model, prompt_tokens, completion_tokens, cache_read_tokens,
           cache_creation_tokens, cost, currency, price_id,
           priced_as, pricing_rule, unpriced, contract_id, list_cost, list_currency,
           reported_cost, estimated, priced_at, spans, shares, calls, lacks_usage,
           is_error, input_truncated, output_truncated,
           sealed_error, sealed_input, sealed_output)
    SELECT *
      FROM unnest(
           %(session)b::uuid[], %(version)b::bigint[], %(turn_id)b::text[],
           %(trace_id)b::text[], %(started_at)b::timestamptz[],
           %(ended_at)b::timestamptz[], %(latency_us)b::bigint[],
           %(provider)b::text[], %(model)b::text[], %(prompt_tokens)b::bigint[],
           %(completion_tokens)b::bigint[], %(cache_read_tokens)b::bigint[],
           %(cache_creation_tokens)b::bigint[], %(cost)b::numeric[],
           %(currency)b::text[], %(price_id)b::text[],
           %(priced_as)b::text[], %(pricing_rule)b::text[], %(unpriced)b::text[],
           %(contract_id)b::text[], %(list_cost)b::numeric[],
           %(list_currency)b::text[],
           %(reported_cost)b::numeric[], %(estimated)b::text[],
           %(priced_at)b::timestamptz[],
           %(spans)b::bigint[], %(shares)b::text[], %(calls)b::text[],
           %(lacks_usage)b::boolean[],
           %(is_error)b::boolean[],
           %(input_truncated)b::boolean[], %(output_truncated)b::boolean[],
           %(sealed_error)b::text[], %(sealed_input)b::text[],
           %(sealed_output)b::text[])
"""
DELETE_TURNS = """
    DELETE FROM session_turn t
     USING unnest(%(sessions)b::uuid[], %(turn_ids)b::text[])
           AS given (session, turn_id)
     WHERE t.session = given.session AND t.turn_id = given.turn_id
"""
REPRICE_TURNS = """
    UPDATE session_turn t
       SET cost = given.cost, currency = given.currency, price_id = given.price_id,
           priced_as = given.priced_as, pricing_rule = given.pricing_rule,
           unpriced = given.unpriced, contract_id = given.contract_id,
           list_cost = given.list_cost, list_currency = given.list_currency,
           estimated = given.estimated,
           priced_at = given.priced_at,
           shares = given.shares, lacks_usage = given.lacks_usage
      FROM unnest(
           %(session)b::uuid[], %(turn_id)b::text[], %(cost)b::numeric[],
           %(currency)b::text[], %(price_id)b::text[], %(priced_as)b::text[],
           %(pricing_rule)b::text[], %(unpriced)b::text[],
           %(contract_id)b::text[], %(list_cost)b::numeric[],
           %(list_currency)b::text[], %(estimated)b::text[],
           %(priced_at)b::timestamptz[],
           %(shares)b::text[],
           %(lacks_usage)b::boolean[])
           AS given (session, turn_id, cost, currency, price_id, priced_as,
                     pricing_rule, unpriced, contract_id, list_cost, list_currency,
                     estimated, priced_at, shares, lacks_usage)
     WHERE t.session = given.session AND t.turn_id = given.turn_id
"""
OPENED = """
    SELECT *
      FROM unnest(
           %(id)b::uuid[], %(session_id)b::text[], %(agent_id)b::text[]::uuid[],
           %(user_id)b::text[]::uuid[], %(opened_at)b::timestamptz[],
           %(opened_position)b::bigint[], %(ended_at)b::timestamptz[],
           %(version)b::bigint[])
           AS given (id, session_id, agent_id, user_id, opened_at, opened_position,
                     ended_at, version)
"""
TOUCHED = """
    SELECT s.id, s.session_id, s.agent_id, s.user_id, s.opened_at, s.opened_position,
           coalesce(given.ended_at, s.ended_at) AS ended_at, given.version
      FROM unnest(%(id)b::uuid[], %(ended_at)b::timestamptz[], %(version)b::bigint[])
           AS given (id, ended_at, version)
      JOIN session s USING (id)
"""
# A row depends on the set of its turns alone, not on their order of arrival.
WHOLE = """
    WITH touched AS ({touched}
    ), summary AS (
         SELECT t.session AS id,
                count(*) AS traces,
                count(*) FILTER (WHERE t.is_error) AS errors,
                min(t.started_at) AS started_at,
                max(t.ended_at) AS ended_at,
                sum(t.prompt_tokens) AS prompt_tokens,
                sum(t.completion_tokens) AS completion_tokens,
                sum(t.cache_read_tokens) AS cache_read_tokens,
                sum(t.cache_creation_tokens) AS cache_creation_tokens,
                count(*) FILTER (WHERE t.unpriced IS NOT NULL) AS unpriced,
                array_agg(DISTINCT t.unpriced)
                    FILTER (WHERE t.unpriced IS NOT NULL) AS reasons,
                bool_or(t.lacks_usage) AS lacks_usage,
                trim_scale(sum(t.reported_cost)) AS reported_cost,
                count(t.reported_cost) AS reported,
                min(t.currency) AS currency,
                min(t.currency) IS DISTINCT FROM max(t.currency) AS mixed,
                trim_scale(sum(t.cost)) AS cost,
                min(t.list_currency) AS list_currency,
                min(t.list_currency) IS DISTINCT FROM max(t.list_currency)
                    OR bool_or(t.list_cost IS NULL
                               AND (t.cost IS NOT NULL OR t.unpriced IS NOT NULL))
                    AS lacks_list_cost,
                trim_scale(sum(t.list_cost)) AS list_cost,
                min(t.priced_at) AS first_priced_at,
                max(t.priced_at) AS last_priced_at,
                percentile_cont(ARRAY[0.5, 0.99])
                    WITHIN GROUP (ORDER BY t.latency_us / 1000.0::float8) AS latency_ms,
                (array_agg(t.version ORDER BY t.started_at, t.turn_id)
                    FILTER (WHERE t.sealed_input IS NOT NULL))[1] AS first_input,
                (array_agg(t.version ORDER BY t.started_at DESC, t.turn_id DESC)
                    FILTER (WHERE t.sealed_output IS NOT NULL))[1] AS last_output
           FROM session_turn t
          WHERE t.session = ANY (%(id)b::uuid[])
          GROUP BY t.session
    ), whole AS (
         SELECT s.id, s.session_id, s.agent_id, s.user_id, s.opened_at,
                s.opened_position, s.ended_at, s.version,
                least(s.opened_at, t.started_at) AS started_at,
                greatest(s.opened_at, s.ended_at, t.ended_at) AS last_active_at,
                coalesce(t.traces, 0) AS traces, coalesce(t.errors, 0) AS errors,
                CASE WHEN NOT t.lacks_usage THEN t.prompt_tokens END AS prompt_tokens,
                CASE WHEN NOT t.lacks_usage THEN t.completion_tokens END
                    AS completion_tokens,
                t.cache_read_tokens, t.cache_creation_tokens,
                CASE WHEN t.unpriced = 0 AND NOT t.mixed THEN t.cost END AS cost,
                CASE WHEN t.unpriced = 0 AND NOT t.mixed THEN t.currency END
                    AS currency,
                CASE WHEN NOT t.lacks_list_cost THEN t.list_cost END AS list_cost,
                CASE WHEN NOT t.lacks_list_cost THEN t.list_currency END
                    AS list_currency,
                t.first_priced_at, t.last_priced_at,
                coalesce(t.unpriced, 0) AS unpriced,
                CASE WHEN t.mixed
                     THEN array_remove(t.reasons, 'several_currencies')
                          || ARRAY['several_currencies']
                     ELSE coalesce(t.reasons, '{{}}') END AS reasons,
                t.reported_cost, coalesce(t.reported, 0) AS reported,
                t.latency_ms, t.first_input, t.last_output
           FROM touched s
           LEFT JOIN summary t USING (id)
    )
"""
RENDERED = rendered_by_sql(StoredSession)
# A rebuild inserts most rows as they stay: an insert costs a quarter of an update.
INSERT_OPENED = (
    SQL(WHOLE).format(touched=SQL(OPENED))
    + SQL("""
    INSERT INTO session (
           id, session_id, agent_id, user_id, opened_at, opened_position, ended_at,
           version, started_at, last_active_at, has_error, first_input_version,
           last_output_version, rendered)
    SELECT id, session_id, agent_id, user_id, opened_at, opened_position, ended_at,
           version, started_at, last_active_at, errors > 0, first_input,
           last_output, {rendered}
      FROM whole w
""").format(rendered=RENDERED)
).as_bytes(None)
UPDATE_TOUCHED = (
    SQL(WHOLE).format(touched=SQL(TOUCHED))
    + SQL("""
    UPDATE session s
       SET ended_at = w.ended_at,
           version = w.version,
           started_at = w.started_at,
           last_active_at = w.last_active_at,
           has_error = w.errors > 0,
           first_input_version = w.first_input,
           last_output_version = w.last_output,
           rendered = {rendered}
      FROM whole w
     WHERE s.id = w.id
""").format(rendered=RENDERED)
).as_bytes(None)


async def insert_turns(db: Db, rows: Iterable[TurnRow]) -> None:
    await db.execute(INSERT_TURNS, columns(rows))


async def delete_turns(db: Db, turns: Collection[tuple[UUID, str]]) -> None:
    """Delete turns, by session and turn id, before their newer rows are inserted."""
    sessions, turn_ids = zip(*turns, strict=True)
    await db.execute(
        DELETE_TURNS, {"sessions": list(sessions), "turn_ids": list(turn_ids)}
    )


async def reprice_turns(db: Db, rows: Iterable[RepricedRow]) -> None:
    await db.execute(REPRICE_TURNS, columns(rows))


async def insert_opened(db: Db, rows: Iterable[OpenedRow]) -> None:
    """Insert new sessions, with the figures of their turns."""
    await db.execute(INSERT_OPENED, columns(rows))


async def update_touched(db: Db, rows: Iterable[TouchedRow]) -> None:
    """Compute the rows of earlier sessions again from their turns."""
    await db.execute(UPDATE_TOUCHED, columns(rows))
