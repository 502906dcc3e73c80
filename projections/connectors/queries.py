"""Queries of connectors."""

from dataclasses import dataclass
from datetime import datetime
from typing import Literal
from uuid import UUID

from psycopg.rows import class_row, dict_row

from service.connectors.health import HealthState
from service.connectors.resource import ConnectorResource, Grant, grant
from service.database import Db, Pool


class ListedConnector(ConnectorResource):
    """A connector of a list; ``health`` says whether its tools can be listed.

    ``health_message`` says why not, if they can't. ``health_at`` is when that was last
    tried.
    """

    health: HealthState
    health_message: str | None
    health_at: datetime | None


Scope = Literal["owned", "granted", "offered", "public"]

CONNECTORS = """
    SELECT c.id, c.name, c.url, c.description, c.owner_id, c.offered_owner_id,
           CASE WHEN c.public_since IS NULL THEN 'private' ELSE 'public' END
               AS visibility,
           c.public_since, c.made_public_by, c.slug, c.record_mode,
           c.protocol_revision, c.credential, c.version, c.created_at, c.updated_at,
           seen.health,
           CASE WHEN h.cause IS NOT NULL THEN h.error END AS health_message,
           h.attempted_at AS health_at
      FROM read.connector c
      LEFT JOIN events.connector_health h
        ON h.connector_id = c.id AND h.url = c.url
     CROSS JOIN LATERAL (
           SELECT CASE WHEN h.attempted_at IS NULL THEN 'unobserved'
                       WHEN h.cause IS NULL THEN 'ok'
                       ELSE 'failing' END AS health
           ) AS seen
      LEFT JOIN LATERAL (
           SELECT bool_or(g.state = 'granted') AS granted,
                  bool_or(g.state <> 'granted') AS offered
             FROM read.connector_grant g
             JOIN read.agent_manager m
               ON m.agent_id = g.agent_id AND m.user_id = %(user_id)s
            WHERE g.connector_id = c.id
           ) AS held ON true
     WHERE NOT c.is_retired
       AND (%(after)s::uuid IS NULL OR c.id > %(after)s)
       AND (%(agent_id)s::uuid IS NULL
            OR EXISTS (SELECT
                         FROM read.connector_grant g
                         LEFT JOIN read.agent_manager m
                           ON m.agent_id = g.agent_id AND m.user_id = %(user_id)s
                        WHERE g.connector_id = c.id AND g.agent_id = %(agent_id)s
                          AND (%(everything)s OR c.owner_id = %(user_id)s
                               OR m.user_id IS NOT NULL)))
       AND (%(health)s::text IS NULL OR seen.health = %(health)s)
       AND CASE %(scope)s::text
           WHEN 'owned' THEN c.owner_id = %(user_id)s
           WHEN 'granted' THEN held.granted
           WHEN 'offered' THEN held.offered OR c.offered_owner_id = %(user_id)s
           WHEN 'public' THEN c.public_since IS NOT NULL
           ELSE %(everything)s
                OR c.owner_id = %(user_id)s
                OR c.public_since IS NOT NULL
                OR held.granted OR held.offered
                OR c.offered_owner_id = %(user_id)s
           END
     ORDER BY c.id
     LIMIT %(limit)s
"""
CONNECTOR = """
    SELECT id, name, url, description, owner_id, offered_owner_id,
           CASE WHEN public_since IS NULL THEN 'private' ELSE 'public' END
               AS visibility,
           public_since, made_public_by, slug, record_mode, protocol_revision,
           credential, version, created_at, updated_at
      FROM read.connector
     WHERE id = %s
"""
ACCESS = """
    SELECT %(everything)s OR c.owner_id = %(user_id)s AS sees_grants,
           c.is_retired,
           c.public_since IS NOT NULL
           OR c.offered_owner_id = %(user_id)s
           OR EXISTS (SELECT
                        FROM read.connector_grant g
                        JOIN read.agent_manager m USING (agent_id)
                       WHERE g.connector_id = c.id AND m.user_id = %(user_id)s)
               AS is_shared_with_caller
      FROM read.connector c
     WHERE c.id = %(id)s
"""
HELD = """
    SELECT DISTINCT connector_id
      FROM read.connector_grant
     WHERE state = 'granted'
     ORDER BY connector_id
"""
# At once; held connectors have the other turns of the observer.
NEW_MAX = 4
# One of each owner, so that nobody's flood of connectors keeps others waiting.
NEVER_OBSERVED = """
    SELECT id
      FROM (SELECT DISTINCT ON (c.owner_id) c.id, c.updated_at
              FROM read.connector c
             WHERE NOT c.is_retired
               AND NOT EXISTS (SELECT
                                 FROM read.connector_grant g
                                WHERE g.connector_id = c.id AND g.state = 'granted')
               AND NOT EXISTS (SELECT
                                 FROM events.connector_health h
                                WHERE h.connector_id = c.id AND h.url = c.url
                                  AND h.attempted_at IS NOT NULL)
             ORDER BY c.owner_id, c.updated_at, c.id) AS first_of_owner
     ORDER BY updated_at, id
     LIMIT %s
"""
GRANTS = """
    SELECT agent_id, nullif(state, 'granted') AS offered_by
      FROM read.connector_grant
     WHERE connector_id = %s
     ORDER BY agent_id
"""


@dataclass(frozen=True, slots=True)
class Access:
    """What a caller may see of a connector, as things are now."""

    sees_grants: bool
    is_retired: bool
    is_shared_with_caller: bool

    @property
    def sees_now(self) -> bool:
        return not self.is_retired and self.sees_past

    @property
    def sees_past(self) -> bool:
        """Say whether the connector's history exists for the caller.

        Grants end with the connector, so its past is then left to its owner and to
        those who see everything.
        """
        return self.sees_grants or self.is_shared_with_caller


async def visible_connectors(
    db: Db,
    *,
    user_id: UUID,
    everything: bool,
    scope: Scope | None,
    agent_id: UUID | None,
    health: HealthState | None,
    after: UUID | None,
    limit: int,
) -> list[ListedConnector]:
    """Return connectors that a user can see, by id.

    A scope is what the user has to do with a connector themself; ``granted`` and
    ``offered`` go by the agents that they manage, and ``offered`` also by offers of
    ownership. An agent leaves those connectors
    that are granted or offered to it, as far as the user sees these grants.
    """
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(
            CONNECTORS,
            {
                "user_id": user_id,
                "everything": everything,
                "scope": scope,
                "agent_id": agent_id,
                "health": health,
                "after": after,
                "limit": limit,
            },
        )
        return await cursor.fetchall()  # type: ignore[return-value]


async def access_to(
    db: Db, connector_id: UUID, *, user_id: UUID, everything: bool
) -> Access | None:
    """Return what a user may see of a connector, None when there is none."""
    async with db.cursor(row_factory=class_row(Access)) as cursor:
        await cursor.execute(
            ACCESS, {"id": connector_id, "user_id": user_id, "everything": everything}
        )
        return await cursor.fetchone()


async def connector_by_id(db: Db, connector_id: UUID) -> ConnectorResource:
    async with db.cursor(row_factory=dict_row) as cursor:
        await cursor.execute(CONNECTOR, [connector_id])
        return await cursor.fetchone()  # type: ignore[return-value]


async def grants_of_connector(db: Db, connector_id: UUID) -> list[Grant]:
    cursor = await db.execute(GRANTS, [connector_id])
    return [grant(*row) for row in await cursor.fetchall()]


async def connectors_to_observe(pool: Pool) -> list[UUID]:
    """Return the connectors that agents hold, as the read tables have it.

    And a few of the others that weren't observed at the URL that they have.
    """
    async with pool.connection() as db:
        held = await (await db.execute(HELD)).fetchall()
        new = await (await db.execute(NEVER_OBSERVED, [NEW_MAX])).fetchall()
        return [row[0] for row in (*held, *new)]
