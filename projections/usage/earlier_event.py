"""Read the event before of a turn that was amended late.

Only earlier versions of the service amended a turn whose spans had been deleted; and a
trace may accept spans for longer that change nothing of its turn.
"""

from typing import Any, Final

import orjson
from eventsourcing.utils import get_topic

from service.database import Db
from service.event_log.mapper import EventMapper
from service.event_log.reader import stored_event
from service.sessions.aggregate import ChatSession

MAPPER: Final = EventMapper([ChatSession])
TOPICS: Final = [
    get_topic(each)
    for each in (
        ChatSession.TurnRecorded,
        ChatSession.TurnAmended,
        ChatSession.TurnRepriced,
    )
]
# The state is JSON. Another turn may name this one's id, as its trace.
EVENTS_BEFORE: Final = """
    SELECT originator_id, originator_version, topic, state
      FROM events.stored_event
     WHERE originator_id = %(session)s AND originator_version < %(before)s
       AND topic = ANY (%(topics)s) AND position(%(turn)s::bytea IN state) > 0
     ORDER BY originator_version DESC
     LIMIT %(limit)s
"""
# With their texts they are large.
EVENTS_AT_ONCE: Final = 10


async def event_before(db: Db, amended: ChatSession.TurnAmended) -> Any:
    """Return what the turn was before it was amended.

    :raises LookupError: the log has no such event
    """
    before = amended.originator_version
    while True:
        cursor = await db.execute(
            EVENTS_BEFORE,
            {
                "session": amended.originator_id,
                "before": before,
                "topics": TOPICS,
                "turn": orjson.dumps(amended.turn_id),
                "limit": EVENTS_AT_ONCE,
            },
            binary=True,
        )
        rows = await cursor.fetchall()
        if not rows:
            raise LookupError("no event of this turn before")
        for row in rows:
            event = MAPPER.to_domain_event(stored_event(row))
            if event.turn_id == amended.turn_id:
                return event
        before = rows[-1][1]
