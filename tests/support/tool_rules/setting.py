"""Agents and connectors for the tests of tool rules, made over HTTP or in the log."""

from collections.abc import Awaitable, Callable, Iterable
from datetime import UTC, datetime
from typing import Any, TypeVar
from uuid import UUID

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.resources import Resources
from tests.support.callers import Caller, Reply
from tests.support.gateway.observing import observe
from tests.support.reading import read_events

Result = TypeVar("Result")


class Setting:
    """Puts agents, connectors and grants straight into the log."""

    def __init__(self, resources: Resources) -> None:
        self.resources = resources

    async def agent(self, *managers: Caller) -> UUID:
        first, *others = [manager.user_id for manager in managers]
        agent = Agent(name="Triage", description="", manager_id=str(first))
        for other in others:
            assert other is not None
            agent.appoint_manager(other)
        return await self.save(agent)

    async def connector(
        self, owner: Caller, *, granted_to: Iterable[UUID] = ()
    ) -> UUID:
        connector = Connector(
            owner_id=str(owner.user_id),
            name="Tracker",
            url="https://tracker.example/mcp",
            description="",
        )
        for agent_id in granted_to:
            connector.consent_to_grant(agent_id, by_connector=True, by_agent=True)
        return await self.save(connector)

    async def lists(self, connector_id: UUID, *tools: str) -> None:
        """Let the tools of a connector be observed, as all that it has."""
        listed = [{"name": each, "inputSchema": {"type": "object"}} for each in tools]
        await observe(self.resources.log, connector_id, listed)

    async def change(
        self, connector_id: UUID, change: Callable[[Connector], object]
    ) -> None:
        """Let a decision of the connector be recorded."""

        async def decide(work: UnitOfWork) -> None:
            connector = await work.load(Connector, connector_id)
            change(connector)
            work.save(connector)

        await self._run(decide)

    async def changed_rules_after(self, position: int) -> bool:
        """Say whether an event of tool rules is behind a position.

        Others may be: a refusal is recorded, too.
        """
        found = await read_events(self.resources.log, after=position)
        return any(each.topic.startswith("tool_rules.") for each in found)

    async def save(self, aggregate: Any) -> UUID:
        async def decide(work: UnitOfWork) -> UUID:
            work.save(aggregate)
            saved: UUID = aggregate.id
            return saved

        return await self._run(decide)

    async def _run(self, decide: Callable[[UnitOfWork], Awaitable[Result]]) -> Result:
        result, _ = await execute(
            self.resources.log,
            decide,
            metadata={"actor": "setting"},
            at=datetime.now(UTC),
        )
        return result


def rule(connector_id: UUID, tool_pattern: str, stance: str) -> dict[str, str]:
    return {
        "connector_id": str(connector_id),
        "tool_pattern": tool_pattern,
        "stance": stance,
    }


def path(agent_id: UUID) -> str:
    return f"/api/mcp/agents/{agent_id}/tools"


async def put(
    caller: Caller, agent_id: UUID, *rules: dict[str, str], **headers: str
) -> Reply:
    return await caller.put(path(agent_id), {"rules": list(rules)}, **headers)
