"""What the specification says of connectors, grants and rules, without a service.

Written from the specification and the contract alone, as plainly as can be: a world
of dictionaries that each request either changes or not, and a status for it.
"""

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal[
    "rules", "grant", "revoke", "public", "private", "retire", "appoint", "dismiss"
]
Rule = tuple[str, str, str]
"""Connector, pattern and stance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    kind: Kind
    caller: str
    agent: str = ""
    connector: str = ""
    user: str = ""
    rules: tuple[Rule, ...] = ()
    if_match: int | None = None


@dataclass(slots=True)
class Connector:
    owner: str
    public: bool = False
    retired: bool = False
    granted: set[str] = field(default_factory=set)
    # Agent to the side that has consented so far.
    offers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Agent:
    managers: set[str]
    rules: dict[str, dict[str, str]] = field(default_factory=dict)
    version: int = 0


@dataclass(slots=True)
class World:
    superusers: frozenset[str]
    auditors: frozenset[str]
    users: frozenset[str]
    agents: dict[str, Agent] = field(default_factory=dict)
    connectors: dict[str, Connector] = field(default_factory=dict)

    def after(self, request: Request) -> tuple["World", int]:
        """Return the world after a request, and its status."""
        world = deepcopy(self)
        return world, getattr(world, f"_{request.kind}")(request)

    def seen_by(self, caller: str, request: Request) -> list[Rule]:
        """Return the rules in the answer to a batch, sorted."""
        named = {connector for connector, _, _ in request.rules}
        return sorted(
            (connector, pattern, stance)
            for connector, stances in self.agents[request.agent].rules.items()
            for pattern, stance in stances.items()
            if self._manages(caller, request.agent) or connector in named
        )

    def decision(self, agent: str, connector: str, tool: str) -> str:
        """Deny beats ask beats allow; nothing, and no grant, is deny."""
        held = self.connectors[connector]
        stances = {
            stance
            for pattern, stance in self.agents[agent].rules.get(connector, {}).items()
            if _matches(pattern, tool)
        }
        if held.retired or agent not in held.granted:
            return "deny"
        return next((each for each in ("deny", "ask") if each in stances), None) or (
            "allow" if stances else "deny"
        )

    def _rules(self, request: Request) -> int:
        batch: dict[str, dict[str, str]] = {}
        for connector, pattern, stance in request.rules:
            if batch.setdefault(connector, {}).setdefault(pattern, stance) != stance:
                return 422
        agent = self.agents.get(request.agent)
        if agent is None:
            return 404 if request.caller in self.superusers else 403
        full = self._manages(request.caller, request.agent)
        if not full and not (
            batch
            and all(self._owns_held(request.caller, request.agent, c) for c in batch)
        ):
            return 403
        if any(c not in self.connectors or self.connectors[c].retired for c in batch):
            return 422
        if request.if_match not in (None, agent.version):
            return 412
        wanted = {**agent.rules, **batch} if batch else {}
        if wanted != agent.rules:
            agent.version += 1 if agent.version else 2
            agent.rules = wanted
        return 200

    def _grant(self, request: Request) -> int:
        connector, refusal = self._sides(request)
        if connector is None:
            return refusal
        if request.agent in connector.granted:
            return 200
        offered = connector.offers.get(request.agent)
        owner = self._shares(request.caller, connector)
        agent = self._manages(request.caller, request.agent)
        if (owner or connector.public or offered == "connector") and (
            agent or offered == "agent"
        ):
            connector.granted.add(request.agent)
            connector.offers.pop(request.agent, None)
            return 201
        connector.offers[request.agent] = "connector" if owner else "agent"
        return 202

    def _revoke(self, request: Request) -> int:
        connector, refusal = self._sides(request)
        if connector is None:
            return refusal
        connector.granted.discard(request.agent)
        connector.offers.pop(request.agent, None)
        return 200

    def _public(self, request: Request) -> int:
        connector, refusal = self._shared(request)
        if connector is None:
            return refusal
        was, connector.public = connector.public, True
        return 200 if was else 201

    def _private(self, request: Request) -> int:
        connector, refusal = self._shared(request)
        if connector is None:
            return refusal
        connector.public = False
        return 200

    def _retire(self, request: Request) -> int:
        connector, refusal = self._shared(request)
        if connector is None:
            return refusal
        self.connectors[request.connector] = Connector(connector.owner, retired=True)
        return 200

    def _appoint(self, request: Request) -> int:
        agent, refusal = self._managed(request)
        if agent is None:
            return refusal
        agent.managers.add(request.user)
        return 200

    def _dismiss(self, request: Request) -> int:
        agent, refusal = self._managed(request)
        if agent is None:
            return refusal
        if agent.managers == {request.user} and request.caller not in self.superusers:
            return 403
        agent.managers.discard(request.user)
        return 200

    def _manages(self, caller: str, agent: str) -> bool:
        """Full agent management."""
        found = self.agents.get(agent)
        return found is not None and (
            caller in self.superusers or caller in found.managers
        )

    def _owns_held(self, caller: str, agent: str, connector: str) -> bool:
        found = self.connectors.get(connector)
        return (
            found is not None
            and not found.retired
            and found.owner == caller
            and agent in found.granted
        )

    def _shares(self, caller: str, connector: Connector) -> bool:
        return caller in self.superusers or caller == connector.owner

    def _visible(self, request: Request) -> Connector | None:
        connector = self.connectors.get(request.connector)
        if connector is None or connector.retired:
            return None
        caller = request.caller
        if (
            caller in self.auditors
            or self._shares(caller, connector)
            or connector.public
            or any(
                self._manages(caller, agent)
                for agent in (*connector.granted, *connector.offers)
            )
        ):
            return connector
        return None

    def _shared(self, request: Request) -> tuple[Connector | None, int]:
        connector = self._visible(request)
        if connector is None:
            return None, 404
        if not self._shares(request.caller, connector):
            return None, 403
        return connector, 0

    def _sides(self, request: Request) -> tuple[Connector | None, int]:
        connector = self._visible(request)
        if connector is None:
            return None, 404
        if not self._shares(request.caller, connector) and not self._manages(
            request.caller, request.agent
        ):
            return None, 403
        if request.agent not in self.agents:
            return None, 404
        return connector, 0

    def _managed(self, request: Request) -> tuple[Agent | None, int]:
        agent = self.agents.get(request.agent)
        if agent is None or not (
            request.caller in self.auditors
            or self._manages(request.caller, request.agent)
        ):
            return None, 404
        if not self._manages(request.caller, request.agent):
            return None, 403
        if request.kind == "appoint" and request.user not in self.users:
            return None, 404
        return agent, 0


def explains(
    world: World, answers: Sequence[tuple[Request, int, int | None]]
) -> World | None:
    """Return the world after some requests at once, or None if nothing explains it.

    Each comes with its status and the position of what it recorded. What recorded
    something happened in the order of the positions, and what did not happened
    somewhere between.
    """
    recorded = sorted(
        (each for each in answers if each[2]), key=lambda each: each[2] or 0
    )
    worlds = [world]
    for request, status, _ in recorded:
        after, expected = worlds[-1].after(request)
        if status != expected or after == worlds[-1]:
            return None
        worlds.append(after)
    for request, status, position in answers:
        if position is None and (True, status) not in [
            (after == before, expected)
            for before in worlds
            for after, expected in [before.after(request)]
        ]:
            return None
    return worlds[-1]


def _matches(pattern: str, tool: str) -> bool:
    if not pattern:
        return not tool
    if pattern[0] == "*":
        return any(_matches(pattern[1:], tool[n:]) for n in range(len(tool) + 1))
    return (
        bool(tool) and pattern[0] in ("?", tool[0]) and _matches(pattern[1:], tool[1:])
    )
