"""Read a connector's health, and ask for an observation: handlers."""

from dataclasses import dataclass
from uuid import UUID

from service.connectors.aggregate import Connector
from service.connectors.commands import visible_connector
from service.connectors.policy import may_share
from service.errors import ForbiddenError
from service.event_log.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadHealth:
    connector_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class ObserveNow:
    connector_id: UUID


async def read_health(command: ReadHealth, work: UnitOfWork) -> Connector:
    """Return the connector whose health is read.

    :raises NotFoundError: there is none, or none that the caller can see
    """
    return await visible_connector(work, command.connector_id)


async def observe_now(command: ObserveNow, work: UnitOfWork) -> Connector:
    """Return the connector that is observed.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    connector = await visible_connector(work, command.connector_id)
    if not may_share(work.principal, connector):
        raise ForbiddenError(
            "only its owner and superusers have this connector observed"
        )
    return connector
