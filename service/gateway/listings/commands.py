"""Start to list a connector's tools: command and handler."""

from dataclasses import dataclass
from uuid import UUID

from service.connectors.aggregate import Connector
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.credentials import find_secret
from service.gateway.listings.aggregate import ToolListing
from service.identifiers import id_text
from service.secrets.sent import NamedSecret


@dataclass(frozen=True, slots=True, kw_only=True)
class StartListing:
    connector_id: UUID


async def start_listing(
    command: StartListing, work: UnitOfWork
) -> tuple[Connector, NamedSecret | None] | None:
    """Return a connector and a secret of its owner, whose use is recorded.

    None if there is no such connector. Where callers send a secret of their own, it is
    that which the owner has for their own calls: no other user has called.
    """
    connector = await work.find(Connector, command.connector_id)
    if connector is None or connector.is_retired:
        return None
    secret = await find_secret(
        work, connector, agent_id=None, user_id=UUID(connector.owner_id)
    )
    if secret is not None:
        work.save(ToolListing(connector_id=id_text(connector.id), secret=secret.used))
    return connector, secret
