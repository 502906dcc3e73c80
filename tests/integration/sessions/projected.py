"""Sessions put straight into read tables, without HTTP."""

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from datetime import datetime
from typing import Any
from uuid import uuid4

from psycopg import AsyncConnection

from projections.agents.projector import AgentsProjector
from projections.gateway.projector import GatewayProjector
from projections.sessions.projector import SessionsProjector
from service.event_log.mapper import RecordedEvent
from service.sessions.aggregate import ChatSession
from service.sessions.cost import NO_CHARGE
from service.sessions.turn import SealedTexts, Turn


@asynccontextmanager
async def read_tables(database_url: str) -> AsyncIterator[AsyncConnection[Any]]:
    """Give a connection to the empty tables of a list, not to be kept."""
    async with (
        await AsyncConnection.connect(database_url, autocommit=True) as db,
        db.transaction(force_rollback=True),
    ):
        await db.execute("SET LOCAL TimeZone = 'UTC'")
        await db.execute("SET LOCAL search_path = read")
        for projector in (AgentsProjector(), GatewayProjector(), SessionsProjector()):
            await db.execute(projector.table_sql)
            if projector.indexes_sql:
                await db.execute(projector.indexes_sql)
        yield db


def recorded(events: Iterable[Any], after: int = 0) -> list[RecordedEvent]:
    """Give events places in a log."""
    return [
        RecordedEvent(
            position=position,
            recorded_at=event.timestamp,
            topic=event.TOPIC,
            event=event,
            metadata={},
            command_id=uuid4(),
        )
        for position, event in enumerate(events, after + 1)
    ]


def session_events(
    started_at: datetime,
    turns: Sequence[Turn],
    *,
    ended_at: datetime | None = None,
    session_id: str = "chat-1",
) -> list[Any]:
    """Record turns in a new session, in the order given, and return its events."""
    session = ChatSession(
        session_id=session_id,
        agent_id="00000000-0000-0000-0000-00000000000a",
        user_id="00000000-0000-0000-0000-00000000000b",
        started_at=started_at.isoformat(),
    )
    for turn in turns:
        texts = SealedTexts(input=turn.texts.input, output=turn.texts.output)
        session.record_turn(turn, texts, NO_CHARGE)
        if turn is turns[0] and ended_at is not None:
            session.end(at=ended_at)
    return list(session.take_events(at=started_at))
