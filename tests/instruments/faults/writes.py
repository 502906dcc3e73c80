"""The writes that clients send: each can be found again in the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from random import Random
from uuid import UUID

import orjson

from service.identifiers import id_text
from service.secrets.aggregate import Secret
from service.tool_rules.aggregate import ToolRules
from tests.instruments.faults.world import CANARY, Person, World

STANCES = ("allow", "ask", "deny")


@dataclass(frozen=True, slots=True)
class Write:
    """``refusals`` are the statuses with which it may be refused for good."""

    kind: str
    person: Person
    method: str
    path: str
    body: bytes
    aggregate_id: UUID
    refusals: frozenset[int] = frozenset()


def pattern(number: int) -> str:
    """Return the tool pattern by which the write of a number is known."""
    return f"w{number}"


def draw(random: Random, world: World, number: int) -> Write:
    """Return a write of a random kind; the same for the same random numbers."""
    kind = random.choices(
        (rules, owners_rules, secret, publish, grant), (40, 20, 20, 8, 12)
    )[0]
    return kind(random, world, number)


def rules(random: Random, world: World, number: int) -> Write:
    return _rules("rules", world.manager, random, world, number)


def owners_rules(random: Random, world: World, number: int) -> Write:
    """Write rules that rest on a grant alone: without one, 403."""
    return _rules("owner's rules", world.owner, random, world, number, 403)


def secret(random: Random, world: World, number: int) -> Write:
    name = random.choice(world.secrets)
    return Write(
        "secret",
        world.manager,
        "PUT",
        f"/api/secrets/{name}",
        orjson.dumps({"value": f"{CANARY}-{number}"}),
        Secret.create_id(str(world.manager.user_id), name),
    )


def publish(random: Random, world: World, _number: int) -> Write:
    connector = random.choice(world.connectors)
    return Write(
        "publication",
        world.owner,
        random.choice(("POST", "DELETE")),
        f"/api/mcp/connectors/{connector}/grants/public",
        b"",
        connector,
    )


def grant(random: Random, world: World, _number: int) -> Write:
    connector, agent = _pair(random, world)
    return Write(
        "grant",
        world.root,
        random.choice(("PUT", "PUT", "DELETE")),
        f"/api/mcp/connectors/{connector}/grants/agents/{agent}",
        b"",
        connector,
    )


def _pair(random: Random, world: World) -> tuple[UUID, UUID]:
    """Return a connector and one of a few agents, so that it is often granted."""
    number = random.randrange(len(world.connectors))
    agent = world.agents[(number * 3 + random.randrange(3)) % len(world.agents)]
    return world.connectors[number], agent


def _rules(
    kind: str, person: Person, random: Random, world: World, number: int, *refusal: int
) -> Write:
    connector, agent = _pair(random, world)
    rule: Mapping[str, str] = {
        "connector_id": str(connector),
        "tool_pattern": pattern(number),
        "stance": random.choice(STANCES),
    }
    return Write(
        kind,
        person,
        "PUT",
        f"/api/mcp/agents/{agent}/tools",
        orjson.dumps({"rules": [rule]}),
        ToolRules.create_id(id_text(agent)),
        frozenset(refusal),
    )
