"""A connector as the API shows it."""

from datetime import datetime
from typing import Literal, TypedDict
from uuid import UUID

from service.connectors.aggregate import Connector


class ConnectorResource(TypedDict):
    id: UUID
    name: str
    url: str
    description: str
    owner_id: UUID
    visibility: Literal["private", "public"]
    public_since: datetime | None
    made_public_by: UUID | None
    version: int
    created_at: datetime
    updated_at: datetime


def connector_resource(connector: Connector) -> ConnectorResource:
    return {
        "id": connector.id,
        "name": connector.name,
        "url": connector.url,
        "description": connector.description,
        "owner_id": UUID(connector.owner_id),
        "visibility": "public" if connector.is_public else "private",
        "public_since": (
            datetime.fromisoformat(connector.public_since)
            if connector.public_since
            else None
        ),
        "made_public_by": (
            UUID(connector.made_public_by) if connector.made_public_by else None
        ),
        "version": connector.version,
        "created_at": connector.created_on,
        "updated_at": connector.modified_on,
    }
