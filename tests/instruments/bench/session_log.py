"""A log of very many sessions, written straight into its table."""

import asyncio
import time
from uuid import UUID

import psycopg

from projections.catalog import follower_conninfo
from projections.engine.rebuild import rebuild
from service.aggregates import AGGREGATES
from service.event_log.mapper import EventMapper
from tests.support.projectors import PROJECTORS

# Sessions of the last days, so that the list's usual window holds all of them.
STARTED = """
    INSERT INTO events.stored_event (
           originator_id, originator_version, topic, state,
           notification_id, recorded_at, command_id, metadata)
    SELECT gen_random_uuid(), 1, 'session.started',
           convert_to(format(
               '{"timestamp":{"_type_":"datetime_iso","_data_":"%%s"},'
               '"originator_topic":"session","session_id":"%%s","agent_id":"%%s",'
               '"user_id":"%%s","started_at":"%%s"}',
               moment.text, gen_random_uuid(), %(agent)s::uuid,
               gen_random_uuid(), moment.text), 'UTF8'),
           head.position + number, moment.at, gen_random_uuid(),
           '{"actor":"benchmark"}'
      FROM events.head,
           generate_series(1, %(sessions)s) AS number
     CROSS JOIN LATERAL (
           SELECT at, to_char(at, 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"') AS text
             FROM (SELECT now() - interval '6 days'
                          + number * (interval '6 days' / %(sessions)s) AS at
                  ) AS chosen) AS moment
"""
ADVANCE = """
    UPDATE events.head
       SET position = (SELECT max(notification_id) FROM events.stored_event),
           recorded_at = now()
"""


def write_sessions(database_url: str, *, sessions: int, agent: UUID) -> None:
    """Append session starts; nobody else may be writing."""
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute("SET TimeZone = 'UTC'")
        with owner.transaction():
            owner.execute(STARTED, {"sessions": sessions, "agent": agent})
            owner.execute(ADVANCE)
        owner.execute("VACUUM ANALYZE events.stored_event")


def rebuild_rate(database_url: str, projection: str, events: int) -> float:
    """Rebuild a projection from all of the log; return events per second."""
    (projector,) = [each for each in PROJECTORS if each.name == projection]
    conninfo = follower_conninfo(database_url)
    started = time.perf_counter()
    asyncio.run(rebuild(conninfo, EventMapper(AGGREGATES), projector))
    return events / (time.perf_counter() - started)
