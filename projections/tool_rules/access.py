"""Decide what of an agent's rules and of their connectors a caller may see."""

from dataclasses import dataclass
from uuid import UUID

from projections.connectors.queries import access_to
from projections.engine.time_travel import AsOf
from projections.tool_rules.queries import connectors_owned_and_held
from service.agents.aggregate import Agent
from service.agents.policy import may_see_agent
from service.database import Db
from service.errors import NotFoundError
from service.principal import Principal
from service.tool_rules.aggregate import Rules


@dataclass(frozen=True, slots=True)
class Scope:
    """The connectors whose rules the caller sees; None is all, also unknown ones."""

    connector_ids: frozenset[UUID] | None

    def includes(self, connector_id: UUID) -> bool:
        return self.connector_ids is None or connector_id in self.connector_ids

    def narrow(self, rules: Rules) -> Rules:
        return {
            connector: stances
            for connector, stances in rules.items()
            if self.includes(UUID(connector))
        }


async def scope_of(principal: Principal, agent_id: UUID, *, now: AsOf, db: Db) -> Scope:
    """Return the scope, by the caller's present rights also for the past.

    All rules for superusers, auditors, managers and readers of the agent. Otherwise
    those of the caller's own connectors that the agent holds: the caller may replace
    them.

    :raises NotFoundError: there is no such agent, or nothing of it to be seen
    """
    agent = await now.find(Agent, agent_id)
    if agent is not None:
        if may_see_agent(principal, agent):
            return Scope(None)
        held = await connectors_owned_and_held(
            db, agent_id=agent_id, owner_id=principal.user_id
        )
        if held:
            return Scope(frozenset(held))
    raise NotFoundError("no such agent")


async def sees_connector(principal: Principal, connector_id: UUID, *, db: Db) -> bool:
    """Say whether a connector exists for the caller, by present rights."""
    access = await access_to(
        db,
        connector_id,
        user_id=principal.user_id,
        everything=principal.sees_everything,
    )
    return access is not None and access.sees_past
