"""Grant connectors to agents: commands and handlers.

A grant takes the consent of both sides, the connector's and the agent's.
"""

from dataclasses import dataclass
from enum import StrEnum
from uuid import UUID

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.connectors.commands import visible_connector
from service.connectors.policy import may_share, speaks_for_agent
from service.errors import ForbiddenError, NotFoundError
from service.event_log.unit_of_work import UnitOfWork


class GrantOutcome(StrEnum):
    """The result of granting or revoking, as the answer's message."""

    GRANTED = "connector granted to the agent"
    ALREADY_GRANTED = "connector was already granted to the agent"
    CONSENTED = "consent recorded; the agent already held the connector"
    AWAITS_AGENT = "grant offered; a manager of the agent has to accept it"
    AWAITS_CONNECTOR = "grant offered; the owner of the connector has to accept it"
    REVOKED = "grant revoked"
    WITHDRAWN = "offer of a grant withdrawn"
    NOT_GRANTED = "connector was not granted to the agent"


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantConnector:
    connector_id: UUID
    agent_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeGrant:
    connector_id: UUID
    agent_id: UUID


@dataclass(frozen=True, slots=True)
class _Sides:
    """A connector, and for which sides of its grant the caller speaks."""

    connector: Connector
    agent: Agent
    by_connector: bool
    by_agent: bool


async def grant_connector(
    command: GrantConnector, work: UnitOfWork
) -> tuple[Connector, GrantOutcome]:
    """Consent to a grant with every side that the caller speaks for.

    :raises NotFoundError: there is no such connector, or none that the caller can
        see; or no such agent
    :raises ForbiddenError: the caller speaks for neither side, whether or not the
        agent exists
    :raises ConflictError: the connector has as many grants as it can have, or the
        agent is retired
    """
    sides = await _sides(work, command.connector_id, command.agent_id)
    connector = sides.connector
    work.match(connector)
    was_granted = connector.is_granted_to(command.agent_id)
    if was_granted and not (
        sides.by_connector and str(command.agent_id) in connector.not_lent
    ):
        return connector, GrantOutcome.ALREADY_GRANTED
    sides.agent.refuse_if_retired()
    is_complete = connector.consent_to_grant(
        command.agent_id, by_connector=sides.by_connector, by_agent=sides.by_agent
    )
    work.save(connector)
    if is_complete:
        return connector, (
            GrantOutcome.CONSENTED if was_granted else GrantOutcome.GRANTED
        )
    return connector, (
        GrantOutcome.AWAITS_AGENT
        if sides.by_connector
        else GrantOutcome.AWAITS_CONNECTOR
    )


async def revoke_grant(
    command: RevokeGrant, work: UnitOfWork
) -> tuple[Connector, GrantOutcome]:
    """Take back a grant or an offer, which either side may.

    :raises NotFoundError: as for a grant
    :raises ForbiddenError: as for a grant
    """
    sides = await _sides(work, command.connector_id, command.agent_id)
    connector = sides.connector
    work.match(connector)
    was_granted = connector.is_granted_to(command.agent_id)
    changed = connector.revoke_grant(command.agent_id)
    work.save(connector)
    if not changed:
        return connector, GrantOutcome.NOT_GRANTED
    return connector, GrantOutcome.REVOKED if was_granted else GrantOutcome.WITHDRAWN


async def _sides(work: UnitOfWork, connector_id: UUID, agent_id: UUID) -> _Sides:
    connector = await visible_connector(work, connector_id)
    agent = await work.find(Agent, agent_id)
    by_connector = may_share(work.principal, connector)
    by_agent = speaks_for_agent(work.principal, agent)
    if not by_connector and not by_agent:
        raise ForbiddenError(
            "only the connector's owner and the agent's managers change this grant"
        )
    if agent is None:
        raise NotFoundError("no such agent")
    return _Sides(connector, agent, by_connector=by_connector, by_agent=by_agent)
