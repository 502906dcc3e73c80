"""Rows of the log as stored, not decoded: for proofs and exports."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from service.database import Db

# Bounds the states read at once: more would hold the event loop, and the memory.
CHUNK_BYTES = 4 * 1024 * 1024

COLUMNS = """
    SELECT e.notification_id, e.originator_id, e.originator_version, e.topic, e.state,
           e.recorded_at, e.command_id, e.metadata::text
      FROM events.stored_event e
"""
BETWEEN = f"""{COLUMNS}
     WHERE e.notification_id > %(after)s AND e.notification_id <= %(upto)s
     ORDER BY e.notification_id
     LIMIT %(limit)s
"""
# In the given order, as many as fit into a number of bytes, but at least one.
AT_POSITIONS = f"""{COLUMNS}
      JOIN (SELECT wanted.position, wanted.number,
                   sum(octet_length(sized.state)) OVER (ORDER BY wanted.number)
                   - octet_length(sized.state) AS bytes_before
              FROM unnest(%(positions)s::bigint[]) WITH ORDINALITY
                   AS wanted (position, number)
              JOIN events.stored_event sized
                ON sized.notification_id = wanted.position) AS chunk
        ON chunk.position = e.notification_id
     WHERE chunk.bytes_before < %(bytes)s
     ORDER BY chunk.number
"""  # noqa: S608 # of two constants
# The topics are those of the index stored_event_naming.
NAMING = """
    SELECT e.notification_id, e.originator_id, e.originator_version, e.topic, e.state,
           e.recorded_at, e.command_id, e.metadata::text
      FROM unnest(%s::uuid[]) AS named (id)
     CROSS JOIN LATERAL (
           SELECT *
             FROM events.stored_event
            WHERE originator_id = named.id
              AND topic IN ('user.created', 'user.renamed', 'user.erased',
                            'agent.registered', 'agent.edited',
                            'connector.registered', 'connector.edited')
            ORDER BY originator_version DESC
            LIMIT 1) AS e
"""
# Found by their first entries, as they are in no index of their own: only of these are
# the later ones looked through.
NAMING_OF_MODELS = f"""
    SELECT e.*
      FROM unnest(%s::uuid[]) AS named (id)
      JOIN events.stored_event first
        ON first.originator_id = named.id AND first.originator_version = 1
       AND first.topic IN ('model_connection.registered', 'model_preset.made')
     CROSS JOIN LATERAL (
           {COLUMNS}
            WHERE e.originator_id = named.id
              AND e.topic IN ('model_connection.registered', 'model_connection.edited',
                              'model_preset.made', 'model_preset.edited')
            ORDER BY e.originator_version DESC
            LIMIT 1) AS e
"""  # noqa: S608 # of constants
FIRST = f"""{COLUMNS}
     WHERE e.originator_id = ANY (%(ids)s::uuid[]) AND e.originator_version = 1
       AND e.topic = ANY (%(topics)s)
"""


@dataclass(frozen=True, slots=True)
class StoredEntry:
    """One row of the log; ``state`` and ``metadata`` are JSON exactly as stored.

    Not decoded, so that entries which are damaged, or of an event type unknown to
    this version, can be proved and exported too.
    """

    position: int
    aggregate_id: UUID
    version: int
    topic: str
    state: bytes
    recorded_at: datetime
    command_id: UUID
    metadata: str


async def entries_between(
    db: Db, *, after: int, upto: int, limit: int
) -> list[StoredEntry]:
    """Return the entries at ``after < p <= upto``, in order."""
    cursor = await db.execute(
        BETWEEN, {"after": after, "upto": upto, "limit": limit}, binary=True
    )
    return [StoredEntry(*row) for row in await cursor.fetchall()]


async def entries_at(
    db: Db, positions: Sequence[int], *, bytes_max: int = CHUNK_BYTES
) -> list[StoredEntry]:
    """Return the first entries at some positions, in the order of these.

    Their states have about ``bytes_max`` together; at least one is returned.
    """
    asked = {"positions": list(positions), "bytes": bytes_max}
    cursor = await db.execute(AT_POSITIONS, asked, binary=True)
    return [StoredEntry(*row) for row in await cursor.fetchall()]


async def naming_entries(db: Db, aggregate_ids: Sequence[str]) -> list[StoredEntry]:
    """Return the entries that have the names of what can be renamed.

    These are users, agents, connectors, model connections and presets.
    """
    found = []
    for statement in (NAMING, NAMING_OF_MODELS):
        cursor = await db.execute(statement, [list(aggregate_ids)], binary=True)
        found += [StoredEntry(*row) for row in await cursor.fetchall()]
    return found


async def first_entries(
    db: Db, aggregate_ids: Sequence[str], topics: Sequence[str]
) -> list[StoredEntry]:
    """Return the first entries of aggregates, where they are of one of the topics."""
    wanted = {"ids": list(aggregate_ids), "topics": list(topics)}
    cursor = await db.execute(FIRST, wanted, binary=True)
    return [StoredEntry(*row) for row in await cursor.fetchall()]
