"""The agents that could use a connector in a period, and by which grants."""

from collections.abc import Iterable
from uuid import UUID

from eventsourcing.utils import get_topic
from typing_extensions import TypedDict

from projections.engine.origins import Origin, origins_at
from projections.tool_rules import history, spans
from projections.tool_rules.spans import HoldingSpan
from service.connectors.aggregate import Connector
from service.database import Db

PUBLICATIONS = """
    SELECT notification_id, topic
      FROM events.stored_event
     WHERE originator_id = %(id)s AND topic = ANY (%(topics)s)
       AND notification_id <= %(until)s
     ORDER BY originator_version
"""
MADE_PUBLIC = get_topic(Connector.MadePublic)
ENDS_OF_PUBLICATION = [get_topic(Connector.MadePrivate), get_topic(Connector.Retired)]


class Span(TypedDict):
    """From one event until another; ``until`` is null while it continues."""

    since: Origin
    until: Origin | None


class GrantSpan(Span):
    """A period in which an agent held the connector."""

    agent_id: UUID


class Exposure(TypedDict):
    """Grants and publications in effect at any time between two positions.

    ``owner_id`` is the owner at the later one.
    While a connector is public, any manager of an agent can have it granted without its
    owner. Such grants are listed, too.
    """

    connector_id: UUID
    owner_id: UUID
    since_position: int
    until_position: int
    grants: list[GrantSpan]
    publications: list[Span]


async def exposure(db: Db, connector: Connector, *, since: int, until: int) -> Exposure:
    """Return the exposure of a connector, which is as of ``until``."""
    grants = await _grants(db, connector.id, since=since, until=until)
    publications = [
        each
        for each in await _publications(db, connector.id, until=until)
        if each.until is None or each.until > since
    ]
    origins = await origins_at(db, _positions([*grants, *publications]))
    return Exposure(
        connector_id=connector.id,
        owner_id=UUID(connector.owner_id),
        since_position=since,
        until_position=until,
        grants=[
            GrantSpan(
                agent_id=each.agent_id,
                since=origins[each.since],
                until=origins.get(each.until or 0),
            )
            for each in grants
        ],
        publications=[
            Span(since=origins[each.since], until=origins.get(each.until or 0))
            for each in publications
        ],
    )


async def _grants(
    db: Db, connector_id: UUID, *, since: int, until: int
) -> list[HoldingSpan]:
    found = await history.holdings_between(db, connector_id, since=since, until=until)
    retired_at = await history.retirements(
        db, {each.agent_id for each in found}, at=until
    )
    return [
        holding
        for each in found
        for holding in spans.held([each], retired_at.get(each.agent_id))
        if holding.until is None or holding.until > since
    ]


async def _publications(db: Db, connector_id: UUID, *, until: int) -> list[spans.Span]:
    asked = {
        "id": connector_id,
        "topics": [MADE_PUBLIC, *ENDS_OF_PUBLICATION],
        "until": until,
    }
    found: list[spans.Span] = []
    for position, topic in await (await db.execute(PUBLICATIONS, asked)).fetchall():
        if topic == MADE_PUBLIC:
            found.append(spans.Span(since=position))
        elif found and found[-1].until is None:
            found[-1].until = position
    return found


def _positions(found: Iterable[spans.Span]) -> list[int | None]:
    return [position for each in found for position in (each.since, each.until)]
