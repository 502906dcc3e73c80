"""A connection as the API shows it."""

from datetime import datetime
from uuid import UUID

from typing_extensions import TypedDict

from service.call_recording.modes import RecordMode
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.connections.settings import ConnectionCredential
from service.model_gateway.dialects import Dialect


class ConnectionResource(TypedDict):
    """A connection to a server of models; ``credential`` never has a value."""

    id: UUID
    owner_id: UUID
    name: str
    base_url: str
    dialects: list[Dialect]
    provider: str
    credential: ConnectionCredential | None
    record_mode: RecordMode
    version: int
    created_at: datetime
    updated_at: datetime


def connection_resource(connection: ModelConnection) -> ConnectionResource:
    settings = connection.settings
    return {
        "id": connection.id,
        "owner_id": UUID(connection.owner_id),
        "name": settings["name"],
        "base_url": settings["base_url"],
        "dialects": [Dialect(each) for each in settings["dialects"]],
        "provider": settings["provider"],
        "credential": settings["credential"],
        "record_mode": RecordMode(settings["record_mode"]),
        "version": connection.version,
        "created_at": connection.created_on,
        "updated_at": connection.modified_on,
    }
