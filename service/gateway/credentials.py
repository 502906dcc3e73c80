"""The credential that a tool call sends: which secret it is."""

from uuid import UUID

from service.connectors.aggregate import Connector
from service.connectors.gateway_commands import secret_of
from service.event_log.finder import Finder
from service.secrets.sent import NamedSecret, find_named


async def find_secret(
    finder: Finder,
    connector: Connector,
    *,
    agent_id: UUID | None,
    user_id: UUID | None,
) -> NamedSecret | None:
    """Return the secret that a call sends; None if there is none to be sent."""
    setting = connector.credential
    found = secret_of(connector, agent_id=agent_id, user_id=user_id)
    if found is None or setting is None:
        return None
    owner_id, name = found
    return await find_named(
        finder, owner_id, name, header=setting["header"], scheme=setting["scheme"]
    )
