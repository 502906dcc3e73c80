"""A page of the trail may name more things than it has entries."""

from uuid import UUID, uuid4

import pytest
from psycopg import AsyncConnection

from projections.audit.trail.entry import named_entries
from service.audit.aggregate import TextReading
from service.event_log.mapper import EventMapper
from service.event_log.stored_entries import StoredEntry
from service.event_log.unit_of_work import UnitOfWork
from service.sessions.aggregate import ChatSession
from tests.support.event_log.logs import AT, open_log, run
from tests.support.security.loop_holding import measured, tuned_as_served

PER_ENTRY = 100
ENTRIES = 150
# As one session, with ids of their own.
OTHERS = """
    INSERT INTO events.stored_event
    SELECT gen_random_uuid(), 1, topic, state, notification_id + n, recorded_at,
           gen_random_uuid(), metadata
      FROM events.stored_event, generate_series(1, %s) AS n
    RETURNING originator_id
"""


@pytest.mark.thorough
async def test_many_names_do_not_hold_the_event_loop(database_url: str) -> None:
    async with open_log(database_url) as log:
        await run(log, start_session)
        async with await AsyncConnection.connect(database_url, autocommit=True) as db:
            rows = await (await db.execute(OTHERS, [ENTRIES * PER_ENTRY])).fetchall()
            sessions = [row[0] for row in rows]
            entries = [
                reading_of(log.mapper, sessions[first : first + PER_ENTRY])
                for first in range(0, len(sessions), PER_ENTRY)
            ]

            with tuned_as_served(), measured() as cost:
                named = await named_entries(db, log.mapper, entries)

    assert {named.names[str(each)] for each in sessions} == {"chat-1"}
    assert cost.held_s < cost.cpu_s / 8, cost


async def start_session(work: UnitOfWork) -> None:
    work.save(
        ChatSession(
            session_id="chat-1",
            agent_id=str(uuid4()),
            user_id=str(uuid4()),
            started_at=AT.isoformat(),
        )
    )


def reading_of(mapper: EventMapper, sessions: list[UUID]) -> StoredEntry:
    user = str(uuid4())
    reading = TextReading("get_session_list", {str(each): user for each in sessions})
    (event,) = reading.collect_events()
    stored = mapper.to_stored_event(event)
    return StoredEntry(
        position=1,
        aggregate_id=reading.id,
        version=stored.originator_version,
        topic=stored.topic,
        state=stored.state,
        recorded_at=AT,
        command_id=uuid4(),
        metadata='{"actor":"system"}',
    )
