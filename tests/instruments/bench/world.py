"""What the benchmarks ask about: people, agents, connectors, straight in the log."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.connectors.aggregate import Connector
from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.principal import Role
from service.resources import Resources
from service.users.aggregate import Token, User, token_id
from service.users.tokens import new_token

AT_ONCE = 500
ACTOR = {"actor": "benchmark"}


@dataclass(frozen=True, slots=True)
class World:
    """Agents that one user manages, all of them holding the same connectors.

    ``admin_token`` belongs to a superuser.
    """

    token: str
    admin_token: str
    agents: Sequence[UUID]
    connectors: Sequence[UUID]


async def make_world(resources: Resources, *, agents: int, connectors: int) -> World:
    user, admin = User(name="ada"), User(name="root")
    admin.grant_role(Role.SUPERUSER)
    token, issued = _token(resources, user)
    admin_token, admin_issued = _token(resources, admin)
    owned = [
        Connector(
            owner_id=str(user.id),
            name=f"Connector {number}",
            url=f"https://connector-{number}.example/mcp",
            description="",
        )
        for number in range(connectors)
    ]
    managed = [
        Agent(name=f"Agent {number}", description="", manager_id=str(user.id))
        for number in range(agents)
    ]
    for connector in owned:
        for agent in managed:
            connector.consent_to_grant(agent.id, by_connector=True, by_agent=True)
    people = [user, issued, admin, admin_issued]
    await save(resources, [*people, *managed, *owned])
    return World(
        token,
        admin_token,
        [each.id for each in managed],
        [each.id for each in owned],
    )


def _token(resources: Resources, user: User) -> tuple[str, Token]:
    token = new_token()
    identifier = token_id(resources.key_ring.token_hash(token))
    return token, Token(id=identifier, user_id=str(user.id), label="benchmark")


async def save(resources: Resources, aggregates: Sequence[LoggedAggregate]) -> None:
    """Append the pending events of new aggregates, some at a time."""
    for start in range(0, len(aggregates), AT_ONCE):
        part = aggregates[start : start + AT_ONCE]

        async def decide(
            work: UnitOfWork, part: Sequence[LoggedAggregate] = part
        ) -> None:
            for aggregate in part:
                work.save(aggregate)

        await execute(resources.log, decide, metadata=ACTOR, at=datetime.now(UTC))
