"""Register, edit, publish and retire connectors: commands and handlers."""

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from service.agents.aggregate import Agent
from service.agents.policy import fully_manages
from service.connectors.aggregate import Connector
from service.connectors.policy import may_see, may_share
from service.errors import ForbiddenError, NotFoundError
from service.event_log.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterConnector:
    name: str
    url: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EditConnector:
    connector_id: UUID
    name: str
    url: str
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeConnectorPublic:
    connector_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class MakeConnectorPrivate:
    connector_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RetireConnector:
    connector_id: UUID


class Edit(NamedTuple):
    """A connector after a command, whether it has changed, and its slug before."""

    connector: Connector
    has_changed: bool
    slug_before: str


async def register_connector(command: RegisterConnector, work: UnitOfWork) -> Connector:
    """Register a connector, owned by the caller and private."""
    connector = Connector(
        owner_id=str(work.principal.user_id),
        name=command.name,
        url=command.url,
        description=command.description,
    )
    work.save(connector)
    return connector


async def edit_connector(command: EditConnector, work: UnitOfWork) -> Edit:
    """Change name, URL and description.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    connector = await _shareable_connector(work, command)
    slug = connector.slug
    changed = connector.edit(
        name=command.name, url=command.url, description=command.description
    )
    work.save(connector)
    return Edit(connector, changed, slug)


async def make_connector_public(
    command: MakeConnectorPublic, work: UnitOfWork
) -> tuple[Connector, bool]:
    """Make a connector public and return it, and whether it was private before.

    Authorization comes before the check whether it is public already.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    connector = await _shareable_connector(work, command)
    changed = connector.make_public(by=work.principal.user_id, at=work.at)
    work.save(connector)
    return connector, changed


async def make_connector_private(
    command: MakeConnectorPrivate, work: UnitOfWork
) -> tuple[Connector, bool]:
    """Make a connector private and return it, and whether it was public before.

    Grants that were made while it was public stay.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    connector = await _shareable_connector(work, command)
    changed = connector.make_private()
    work.save(connector)
    return connector, changed


async def retire_connector(command: RetireConnector, work: UnitOfWork) -> Connector:
    """Retire a connector permanently; no agent holds it afterwards.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    connector = await _shareable_connector(work, command)
    connector.retire()
    work.save(connector)
    return connector


async def _shareable_connector(
    work: UnitOfWork,
    command: EditConnector
    | MakeConnectorPublic
    | MakeConnectorPrivate
    | RetireConnector,
) -> Connector:
    connector = await visible_connector(work, command.connector_id)
    if not may_share(work.principal, connector):
        raise ForbiddenError("only its owner and superusers change this connector")
    work.match(connector)
    return connector


async def visible_connector(work: UnitOfWork, connector_id: UUID) -> Connector:
    """Load a connector that exists for the caller.

    :raises NotFoundError: the same for none, a retired one and an invisible one
    """
    connector = await work.find(Connector, connector_id)
    if (
        connector is None
        or connector.is_retired
        or not may_see(
            work.principal,
            connector,
            manages_holder=await _manages_holder(work, connector),
        )
    ):
        raise NotFoundError("no such connector")
    return connector


async def _manages_holder(work: UnitOfWork, connector: Connector) -> bool:
    if may_see(work.principal, connector, manages_holder=False):
        return False
    for agent_id in [*connector.granted_to, *connector.offers]:
        agent = await work.find(Agent, UUID(agent_id))
        if agent is not None and fully_manages(work.principal, agent):
            return True
    return False
