"""The agents that could use a connector in a period, and by which grants."""

from collections.abc import AsyncIterator, Iterable
from uuid import UUID

from typing_extensions import TypedDict

from projections.engine.authored_events import AuthoredEvent, Origin
from service.connectors.aggregate import Connector


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


async def exposure(
    events: AsyncIterator[AuthoredEvent], *, since: int, until: int
) -> Exposure | None:
    """Fold a connector's events up to ``until``; None when there are none."""
    owner: str | None = None
    grants: list[GrantSpan] = []
    publications: list[Span] = []
    async for authored in events:
        match authored.event:
            case (
                Connector.Created(owner_id=owner) | Connector.HandedOver(owner_id=owner)
            ):
                connector_id = authored.event.originator_id
            case Connector.GrantedToAgent(agent_id=agent_id) if not _is_open(
                grants, agent_id
            ):
                grants.append(
                    GrantSpan(
                        agent_id=UUID(agent_id), since=authored.origin, until=None
                    )
                )
            case Connector.GrantRevoked(agent_id=agent_id):
                of_agent = (
                    each for each in grants if str(each["agent_id"]) == agent_id
                )
                _end(of_agent, authored.origin)
            case Connector.MadePublic():
                publications.append(Span(since=authored.origin, until=None))
            case Connector.MadePrivate():
                _end(publications, authored.origin)
            case Connector.Retired():
                _end(grants, authored.origin)
                _end(publications, authored.origin)
    if owner is None:
        return None
    return Exposure(
        connector_id=connector_id,
        owner_id=UUID(owner),
        since_position=since,
        until_position=until,
        grants=[each for each in grants if _touches(each, since)],
        publications=[each for each in publications if _touches(each, since)],
    )


def end_with_agent(found: Exposure, agent_id: UUID, retirement: Origin) -> None:
    """End an agent's grants at the event that retired it."""
    for each in found["grants"]:
        if each["agent_id"] == agent_id and _touches(each, retirement["position"]):
            each["until"] = retirement
    found["grants"] = [
        each for each in found["grants"] if _touches(each, found["since_position"])
    ]


def _is_open(grants: Iterable[GrantSpan], agent_id: str) -> bool:
    """Whether an agent has a grant, which its owner's own consent leaves as it is."""
    return any(
        each["until"] is None and str(each["agent_id"]) == agent_id for each in grants
    )


def _end(spans: Iterable[Span], origin: Origin) -> None:
    for span in spans:
        if span["until"] is None:
            span["until"] = origin


def _touches(span: Span, since: int) -> bool:
    """Whether a period ends after a position."""
    return span["until"] is None or span["until"]["position"] > since
