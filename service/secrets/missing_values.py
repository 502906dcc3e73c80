"""Find values of secrets that are gone, though the log has not destroyed them."""

from typing import Final, NamedTuple
from uuid import UUID

from service.database import Db
from service.secrets.aggregate import Secret

TOPICS: Final = [
    each.TOPIC
    for each in (
        Secret.Created,
        Secret.CreatedAgain,
        Secret.Overwritten,
        Secret.Restored,
        Secret.VersionsDestroyed,
        Secret.Deleted,
    )
]
# A value is deleted after the event that destroys it, so one statement sees both, or
# neither, or the event alone.
MISSING = """
    WITH said AS MATERIALIZED (
        SELECT originator_id AS secret_id, topic,
               convert_from(state, 'UTF8')::jsonb AS state
          FROM events.stored_event
         WHERE topic = ANY (%(topics)s)
    ), destroyed AS (
        SELECT jsonb_array_elements_text(state -> 'sealed_ids')::uuid AS sealed_id
          FROM said
         WHERE jsonb_exists(state, 'sealed_ids')
    )
    SELECT said.secret_id, coalesce((said.state ->> 'version')::bigint, 1) AS version
      FROM said
      JOIN said born
        ON born.secret_id = said.secret_id AND born.topic = %(born)s
      JOIN events.user_key owner
        ON owner.user_id = (born.state ->> 'owner_id')::uuid
       AND owner.destroyed_at IS NULL
      LEFT JOIN events.sealed_value kept
        ON kept.sealed_id = (said.state ->> 'sealed_id')::uuid
      LEFT JOIN destroyed ON destroyed.sealed_id = (said.state ->> 'sealed_id')::uuid
     WHERE jsonb_exists(said.state, 'sealed_id')
       AND kept.sealed_id IS NULL AND destroyed.sealed_id IS NULL
     ORDER BY said.secret_id, version
"""


class MissingValue(NamedTuple):
    """A version of a secret that should be readable, and has no value."""

    secret_id: UUID
    version: int

    def __str__(self) -> str:
        return f"{self.secret_id} version {self.version}"


async def missing_values(db: Db) -> list[MissingValue]:
    """Compare the log with what is sealed; reads every event of a secret."""
    cursor = await db.execute(MISSING, {"topics": TOPICS, "born": Secret.Created.TOPIC})
    return [MissingValue(*row) for row in await cursor.fetchall()]
