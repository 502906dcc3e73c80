"""Whom and what the workload is about."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.principal import Role
from service.resources import Resources
from service.users.aggregate import Token, User, token_id
from service.users.tokens import new_token
from tests.instruments.bench.world import save

CANARY = "CANARY-of-a-secret"


@dataclass(frozen=True, slots=True)
class Person:
    user_id: UUID
    token: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@dataclass(frozen=True, slots=True)
class World:
    """``manager`` manages the agents, ``owner`` owns the connectors, ``root`` may all.

    So a rule of the owner's rests on a grant, which others give and take back.
    """

    manager: Person
    owner: Person
    root: Person
    agents: Sequence[UUID]
    connectors: Sequence[UUID]
    secrets: Sequence[str]

    @property
    def tokens(self) -> list[str]:
        return [each.token for each in (self.manager, self.owner, self.root)]


async def make_world(
    resources: Resources, *, agents: int = 6, connectors: int = 3, secrets: int = 6
) -> World:
    people = {name: User(name=name) for name in ("manager", "owner", "root")}
    people["root"].grant_role(Role.SUPERUSER)
    persons, issued = {}, []
    for name, user in people.items():
        token = new_token()
        identifier = token_id(resources.key_ring.token_hash(token))
        issued.append(Token(id=identifier, user_id=str(user.id), label="faults"))
        persons[name] = Person(user.id, token)
    managed = [
        Agent(name=f"agent {n}", description="", manager_id=str(people["manager"].id))
        for n in range(agents)
    ]
    owned = [
        Connector(
            owner_id=str(people["owner"].id),
            name=f"connector {n}",
            url=f"https://connector-{n}.example/mcp",
            description="",
        )
        for n in range(connectors)
    ]
    await save(resources, [*people.values(), *issued, *managed, *owned])
    return World(
        **persons,
        agents=[each.id for each in managed],
        connectors=[each.id for each in owned],
        secrets=[f"SECRET_{n}" for n in range(secrets)],
    )
