"""To which trace each event went: one that is sent again goes there again.

Otherwise it would count twice where its prompt, or the end of its trace, came between.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final
from uuid import UUID

from service.database import Pool
from service.pacing import computed
from service.sessions.otlp.logs.batches import batches
from service.sessions.otlp.logs.events import AgentEvent

KEEP: Final = """
    INSERT INTO events.reported_event AS known (agent_id, event, trace_id)
    SELECT %(agent)s, event, trace_id
      FROM unnest(%(events)b::bytea[], %(traces)b::bytea[]) AS given (event, trace_id)
     ORDER BY event
    ON CONFLICT (agent_id, event) DO UPDATE SET trace_id = known.trace_id
    RETURNING event, trace_id
"""


async def where_they_went(
    pool: Pool, agent_id: UUID, events: Sequence[AgentEvent]
) -> list[AgentEvent]:
    """Return an agent's events, each in the trace that it was first given."""
    given = await computed(len(events), _traces, events)
    kept: dict[bytes, bytes] = {}
    for some in batches(given):
        digests, traces = zip(*some, strict=True)
        async with pool.connection() as db:
            cursor = await db.execute(
                KEEP,
                {"agent": agent_id, "events": list(digests), "traces": list(traces)},
            )
            kept |= dict(await cursor.fetchall())
    return await computed(len(events), _placed, events, kept)


def _traces(events: Iterable[AgentEvent]) -> list[tuple[bytes, bytes | None]]:
    return list({event.digest: event.trace_id for event in events}.items())


def _placed(
    events: Iterable[AgentEvent], kept: Mapping[bytes, bytes]
) -> list[AgentEvent]:
    return [event.in_turn(kept[event.digest]) for event in events]
