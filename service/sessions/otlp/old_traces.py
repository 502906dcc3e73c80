"""Delete traces that accept no more spans."""

import asyncio
import logging
from datetime import timedelta
from typing import Final

import psycopg
from prometheus_client import Counter

from service.database import Pool, message_of
from service.pacing import Pace
from service.sessions.late_spans import AMENDED_FOR
from service.sessions.otlp.logs.expiry import delete_old_events

FORGET_EVERY_S: Final = 60.0
FORGET_ROWS_MAX: Final = 500
# A trigger deletes their parts. Spans are read only where they weren't counted, and for
# the log line of a trace that never became a turn.
FORGET: Final = """
    DELETE FROM events.reported_trace t
     USING (SELECT agent_id, trace_id FROM events.reported_trace
             WHERE touched_at < clock_timestamp() - %(kept_for)s
             ORDER BY touched_at LIMIT %(rows)s
               FOR UPDATE SKIP LOCKED) AS old
     WHERE t.agent_id = old.agent_id AND t.trace_id = old.trace_id
    RETURNING t.agent_id, t.trace_id,
              CASE WHEN coalesce(t.has_entry AND t.names_session,
                        jsonb_path_exists(t.spans, '$.*.entry ? (@ != null)')
                        AND jsonb_path_exists(t.spans, '$.*.session_id ? (@ != null)'))
                   THEN NULL
                   ELSE (SELECT count(*)
                           FROM (SELECT jsonb_object_keys(t.spans)
                                  UNION
                                 SELECT jsonb_object_keys(p.spans)
                                   FROM events.reported_trace_part p
                                  WHERE p.agent_id = t.agent_id
                                    AND p.trace_id = t.trace_id) AS span)
                   END AS spans_without_turn
"""
FORGOTTEN: Final = Counter(
    "agent_runtime_reported_traces_forgotten_total",
    "Deleted traces that accepted no more spans: recorded turns, and incomplete ones "
    "without a root span or a session.",
    ["was"],
)

logger = logging.getLogger(__name__)


async def keep_deleting_old_traces(pool: Pool) -> None:
    """Delete old traces every minute until cancelled; safe in many processes."""
    while True:
        try:
            await delete_old_traces(pool)
            await delete_old_events(pool)
        except (psycopg.Error, OSError) as error:
            logger.warning("can't delete old traces: %s", message_of(error))
        await asyncio.sleep(FORGET_EVERY_S)


async def delete_old_traces(pool: Pool, *, kept_for: timedelta = AMENDED_FOR) -> int:
    """Delete traces that accept no more spans, in batches, and return how many.

    Traces that never became a turn are counted and logged: their spans are lost.
    """
    deleted = 0
    while True:
        async with pool.connection() as db:
            cursor = await db.execute(
                FORGET, {"kept_for": kept_for, "rows": FORGET_ROWS_MAX}
            )
            rows = await cursor.fetchall()
        pace = Pace()
        for agent_id, trace_id, spans in rows:
            await pace.pause()
            is_turn = spans is None
            FORGOTTEN.labels("a turn" if is_turn else "incomplete").inc()
            if not is_turn:
                logger.warning(
                    "a trace never became a turn",
                    extra={
                        "agent_id": str(agent_id),
                        "trace_id": trace_id,
                        "spans": spans,
                    },
                )
        deleted += len(rows)
        if len(rows) < FORGET_ROWS_MAX:
            return deleted
