"""A history that nobody planned, by the API, and a fold of its events by hand."""

import json
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from psycopg import AsyncConnection

from tests.support.callers import Caller, Reply
from tests.support.tool_rules.setting import put, rule

PATTERNS = ("*", "read", "read*", "*delete*", "r?ad")
STANCES = ("allow", "ask", "deny")
TOOLS = ("read", "reads", "delete", "road", "write")


ACTS = (
    *("rules",) * 4,
    *("grant",) * 3,
    *("revoke", "share", "hide", "appoint", "dismiss", "price", "clear"),
)


class World:
    """What there is to act on; the caller is a superuser."""

    def __init__(self, root: Caller, seed: int) -> None:
        self.root = root
        self.agents: list[UUID] = []
        self.connectors: list[UUID] = []
        self._users: list[str] = []
        self._random = random.Random(seed)  # noqa: S311 # no secret
        self._prices = 0

    async def begin(self) -> None:
        for number in range(2):
            agent = await self.root.post("/api/catalog/agents", {"name": f"A{number}"})
            self.agents.append(UUID(agent.data["id"]))
            described = {"name": f"C{number}", "url": "https://c.example/mcp"}
            made = await self.root.post("/api/mcp/connectors", described)
            self.connectors.append(UUID(made.data["id"]))
            user = await self.root.post("/api/users", {"name": f"u{number}"})
            self._users.append(user.data["id"])
        await self.root.post(
            "/api/llm-router/providers", {"key": "acme", "display_name": "Acme"}
        )

    async def step(self) -> None:
        """Do something; most of it changes something."""
        agent = self._random.choice(self.agents)
        connector = self._random.choice(self.connectors)
        user = self._random.choice(self._users)
        grants = f"/api/mcp/connectors/{connector}/grants"
        manager = f"/api/catalog/agents/{agent}/managers/{user}"
        acts: dict[str, Callable[[], Awaitable[Reply]]] = {
            "rules": lambda: put(self.root, agent, *self._rules(connector)),
            "clear": lambda: put(self.root, agent),
            "grant": lambda: self.root.put(f"{grants}/agents/{agent}"),
            "revoke": lambda: self.root.delete(f"{grants}/agents/{agent}"),
            "share": lambda: self.root.post(f"{grants}/public"),
            "hide": lambda: self.root.delete(f"{grants}/public"),
            "appoint": lambda: self.root.put(manager),
            "dismiss": lambda: self.root.delete(manager),
            "price": self._price,
        }
        await acts[self._random.choice(ACTS)]()

    def _rules(self, connector: UUID) -> list[dict[str, str]]:
        patterns = self._random.sample(PATTERNS, self._random.randint(1, 3))
        return [
            rule(connector, pattern, self._random.choice(STANCES))
            for pattern in patterns
        ]

    async def _price(self) -> Reply:
        self._prices += 1
        price = {
            "provider": "acme",
            "model": f"m{self._prices % 3}",
            "input_price_per_1m": self._random.randint(1, 9),
            "output_price_per_1m": self._random.randint(1, 9),
            "effective_from": f"2026-01-{self._prices % 27 + 1:02}T00:00:00Z",
        }
        return await self.root.post("/api/llm-router/prices", price)


@dataclass(slots=True)
class Folded:
    """Who manages what, rules, grants, public connectors and the number of prices.

    Made from the stored JSON alone, by none of our code.
    """

    managers: set[tuple[str, str]] = field(default_factory=set)
    rules: set[tuple[str, str, str, str]] = field(default_factory=set)
    grants: set[tuple[str, str]] = field(default_factory=set)
    public: set[str] = field(default_factory=set)
    prices: int = 0

    def apply(  # noqa: C901 # one for each type of event
        self, aggregate: str, topic: str, state: dict[str, Any]
    ) -> None:
        agent = state.get("agent_id", "")
        match topic:
            case "agent.registered":
                self.managers.add((aggregate, state["manager_id"]))
            case "agent.manager_appointed":
                self.managers.add((aggregate, state["user_id"]))
            case "agent.manager_dismissed":
                self.managers.discard((aggregate, state["user_id"]))
            case "connector.granted_to_agent":
                self.grants.add((aggregate, agent))
            case "connector.grant_revoked":
                self.grants.discard((aggregate, agent))
            case "connector.made_public":
                self.public.add(aggregate)
            case "connector.made_private":
                self.public.discard(aggregate)
            case "tool_rules.cleared":
                self.rules = {each for each in self.rules if each[0] != agent}
            case "tool_rules.replaced":
                for connector, stances in state["rules"].items():
                    self.rules = {
                        each for each in self.rules if each[:2] != (agent, connector)
                    }
                    self.rules |= {
                        (agent, connector, pattern, stance)
                        for pattern, stance in stances.items()
                    }
            case "model_pricing.price_set":
                self.prices += 1


async def folds(database_url: str) -> list[Folded]:
    """Return the world as it was after each position, beginning with 0."""
    async with await AsyncConnection.connect(database_url) as db:
        rows = await (
            await db.execute(
                "SELECT originator_id::text, topic, convert_from(state, 'UTF8')"
                "  FROM events.stored_event ORDER BY notification_id"
            )
        ).fetchall()
    found = [Folded()]
    for aggregate, topic, state in rows:
        last = found[-1]
        now = Folded(
            {*last.managers}, {*last.rules}, {*last.grants}, {*last.public}, last.prices
        )
        now.apply(aggregate, topic, json.loads(state))
        found.append(now)
    return found
