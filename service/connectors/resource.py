"""A connector as the API shows it."""

from datetime import datetime
from typing import Literal
from uuid import UUID

from typing_extensions import TypedDict

from service.connectors.aggregate import BATCHED, Connector
from service.connectors.credential import OF_OWNER, CredentialSetting
from service.connectors.events import AGENT_SIDE, CONNECTOR_SIDE
from service.connectors.protocol_revision import ProtocolRevision, known_revision

Side = Literal["connector", "agent"]


class CredentialResource(TypedDict):
    """What the gateway sends: in which header, and whose secret; never its value."""

    whose: Literal["owner", "caller"]
    header: str
    scheme: str | None


class ConnectorResource(TypedDict):
    """A connector; from ``slug`` to ``credential`` it is for the gateway."""

    id: UUID
    name: str
    url: str
    description: str
    owner_id: UUID
    offered_owner_id: UUID | None
    visibility: Literal["private", "public"]
    public_since: datetime | None
    made_public_by: UUID | None
    slug: str
    record_mode: Literal["strict", "batched"]
    protocol_revision: ProtocolRevision | None
    credential: CredentialResource | None
    version: int
    created_at: datetime
    updated_at: datetime


class Grant(TypedDict):
    """A grant to an agent, or an offer that awaits the consent of a side."""

    agent_id: UUID
    state: Literal["granted", "offered"]
    awaiting: Side | None


class GrantResource(TypedDict):
    """The state of a grant; ``version`` is the connector's."""

    connector_id: UUID
    agent_id: UUID
    state: Literal["granted", "offered", "none"]
    awaiting: Side | None
    version: int


def connector_resource(connector: Connector) -> ConnectorResource:
    return {
        "id": connector.id,
        "name": connector.name,
        "url": connector.url,
        "description": connector.description,
        "owner_id": UUID(connector.owner_id),
        "offered_owner_id": (
            UUID(connector.offered_owner_id) if connector.offered_owner_id else None
        ),
        "visibility": "public" if connector.is_public else "private",
        "public_since": (
            datetime.fromisoformat(connector.public_since)
            if connector.public_since
            else None
        ),
        "made_public_by": (
            UUID(connector.made_public_by) if connector.made_public_by else None
        ),
        "slug": connector.slug,
        "record_mode": "batched" if connector.record_mode == BATCHED else "strict",
        "protocol_revision": known_revision(connector.protocol_revision),
        "credential": credential_resource(connector.credential),
        "version": connector.version,
        "created_at": connector.created_on,
        "updated_at": connector.modified_on,
    }


def credential_resource(
    setting: CredentialSetting | None,
) -> CredentialResource | None:
    if setting is None:
        return None
    return {
        "whose": "owner" if setting["whose"] == OF_OWNER else "caller",
        "header": setting["header"],
        "scheme": setting["scheme"],
    }


def grant(agent_id: UUID, offered_by: str | None) -> Grant:
    """Present a grant, or an offer by one of the sides."""
    awaiting: dict[str | None, Side] = {
        CONNECTOR_SIDE: "agent",
        AGENT_SIDE: "connector",
    }
    return {
        "agent_id": agent_id,
        "state": "offered" if offered_by else "granted",
        "awaiting": awaiting.get(offered_by),
    }


def grants_of(connector: Connector) -> list[Grant]:
    """Return the grants and offers of a connector, by agent id."""
    offered_by: dict[str, str | None] = {
        **dict.fromkeys(connector.granted_to),
        **connector.offers,
    }
    return [grant(UUID(agent), offered_by[agent]) for agent in sorted(offered_by)]


def grant_resource(connector: Connector, agent_id: UUID) -> GrantResource:
    state: Literal["granted", "offered", "none"] = "none"
    awaiting: Side | None = None
    for each in grants_of(connector):
        if each["agent_id"] == agent_id:
            state, awaiting = each["state"], each["awaiting"]
    return {
        "connector_id": connector.id,
        "agent_id": agent_id,
        "state": state,
        "awaiting": awaiting,
        "version": connector.version,
    }
