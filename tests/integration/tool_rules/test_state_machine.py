"""Connectors, grants and rules through the API, by several callers at once.

Whatever they do, every answer and the rules that result have to be what the
reference model says for some order of the requests, and for what was recorded the
order of the log.
"""

import asyncio
import threading
from collections.abc import Awaitable, Coroutine, Iterator, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

import pytest
from aiohttp.test_utils import TestClient, TestServer
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    rule,
    run_state_machine_as_test,
)

from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from service.app import create_app
from service.open_resources import open_resources
from service.resources import Resources
from tests.integration.tool_rules.model import (
    Agent,
    Connector,
    Kind,
    Request,
    World,
    explains,
)
from tests.support.callers import Caller, Callers, Reply

pytestmark = pytest.mark.thorough

Result = TypeVar("Result")
USERS = {
    "root": ("superuser",),
    "auditor": ("auditor",),
    "runtime": ("runtime",),
    "ada": (),
    "bob": (),
    "cyd": (),
}
NOBODY = str(uuid4())
PATTERNS = ("*", "?", "a", "a*", "*b", "a?b")
TOOLS = ("", "a", "b", "ab", "aab", "acb")
STANCES = ("allow", "ask", "deny")
KINDS: tuple[Kind, ...] = (
    *("rules",) * 9,
    *("grant",) * 3,
    *("revoke", "public", "private", "appoint", "dismiss"),
    "retire",
)


@dataclass(frozen=True, slots=True)
class Drawn:
    """A request before anything in it has a name; rules mostly on its connector."""

    kind: Kind
    caller: str
    connector: int
    agent: int
    user: str = "ada"
    rules: Sequence[tuple[int | None, str, str]] = ()
    if_match: int | None = None


NUMBER_OF_NOBODY = 12
NUMBERS = st.integers(0, NUMBER_OF_NOBODY)
RULES = st.tuples(
    st.one_of(*[st.none()] * 5, NUMBERS),
    st.sampled_from(PATTERNS),
    st.sampled_from(STANCES),
)
BATCHES = st.lists(RULES, max_size=4, unique_by=lambda each: each[:2])
DRAWN = st.builds(
    Drawn,
    kind=st.sampled_from(KINDS),
    caller=st.sampled_from([*USERS, *("owner",) * 6, *("manager",) * 4]),
    connector=NUMBERS,
    agent=NUMBERS,
    user=st.sampled_from(list(USERS)),
    rules=st.one_of(BATCHES, BATCHES, BATCHES, st.lists(RULES, max_size=4)),
    if_match=st.one_of(*[st.none()] * 4, st.integers(0, 6)),
)


class Service:
    """The service on an event loop of its own, for tests that are not coroutines."""

    def __init__(self, database_url: str, data_dir: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._stack = AsyncExitStack()
        self._thread.start()
        self.run(self._start(database_url, data_dir))

    def run(self, doing: Coroutine[Any, Any, Result]) -> Result:
        return asyncio.run_coroutine_threadsafe(doing, self._loop).result()

    def stop(self) -> None:
        self.run(self._stack.aclose())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _start(self, database_url: str, data_dir: Path) -> None:
        enter = self._stack.enter_async_context
        self.resources: Resources = await enter(open_resources(database_url, data_dir))
        followers = await enter(run_followers(self.resources.log, database_url))
        client = await enter(TestClient(TestServer(create_app(self.resources))))
        names = [follower.name for follower in followers]
        await wait_for_position(self.resources.pool, names, 0, timeout_s=60)
        callers = Callers(self.resources, client)
        self.users: dict[str, Caller] = {
            name: await callers.user(name, *roles) for name, roles in USERS.items()
        }


@pytest.fixture
def service(database_url: str, tmp_path: Path) -> Iterator[Service]:
    started = Service(database_url, tmp_path)
    yield started
    started.stop()


class Crowd(RuleBasedStateMachine):
    """Callers who know of each other's agents and connectors."""

    service: Service

    def __init__(self) -> None:
        super().__init__()
        self.world = World(
            superusers=frozenset({"root"}),
            auditors=frozenset({"auditor"}),
            users=frozenset(USERS),
        )

    @initialize(granted=st.integers(0, 2**7 - 1))
    def settle(self, granted: int) -> None:
        """Begin where there is something to do: some connectors are granted."""
        for manager in ("ada", "bob"):
            made = self._call(manager, "POST", "/api/catalog/agents", {"name": "Agent"})
            self.world.agents[made.data["id"]] = Agent({manager})
        body = {"name": "Tracker", "url": "https://tracker.example/mcp"}
        for owner in ("ada", "bob", "cyd", "cyd"):
            made = self._call(owner, "POST", "/api/mcp/connectors", body)
            self.world.connectors[made.data["id"]] = Connector(owner)
        pairs = product(self.world.connectors, self.world.agents)
        for number, (connector, agent) in enumerate(pairs):
            if granted >> number & 1:
                grant = f"/api/mcp/connectors/{connector}/grants/agents/{agent}"
                self._call("root", "PUT", grant)
                self.world.connectors[connector].granted.add(agent)

    @rule(drawn=st.lists(DRAWN, min_size=1, max_size=6))
    def call_at_once(self, drawn: list[Drawn]) -> None:
        self._expect_an_explanation([self._request(each) for each in drawn])

    @rule(connector=NUMBERS, agent=NUMBERS, stance=st.sampled_from(STANCES))
    def replace_rules_while_the_grant_goes(
        self, connector: int, agent: int, stance: str
    ) -> None:
        """Let a grant be revoked in the midst of its owner's batches."""
        batches = [
            Drawn("rules", "owner", connector, agent, rules=[(None, pattern, stance)])
            for pattern in PATTERNS[:4]
        ]
        revocation = Drawn("revoke", "root", connector, agent)
        crowd = [*batches[:2], revocation, *batches[2:]]
        self._expect_an_explanation([self._request(each) for each in crowd])

    def _expect_an_explanation(self, requests: list[Request]) -> None:
        replies = self.service.run(self._send_all(requests))
        answers = [
            (request, reply.status, _position(reply))
            for request, reply in zip(requests, replies, strict=True)
        ]
        world = explains(self.world, answers)
        assert world is not None, answers
        if len(requests) == 1:
            self._expect_rules_in_answer(world, requests[0], replies[0])
        self.world = world
        self._expect_rules()

    def _expect_rules(self) -> None:
        for agent_id, agent in self.world.agents.items():
            read = self._call("root", "GET", f"/api/mcp/agents/{agent_id}/tools")
            rules: dict[str, dict[str, str]] = {}
            for each in read.data["rules"]:
                stances = rules.setdefault(each["connector_id"], {})
                stances[each["tool_pattern"]] = each["stance"]
            assert (rules, read.data["version"]) == (agent.rules, agent.version)

    def teardown(self) -> None:
        """Compare decisions, which rest on rules and grants together."""
        for agent in self.world.agents:
            for connector in self.world.agents[agent].rules:
                for tool in TOOLS[1:]:
                    explained = self._call(
                        "root",
                        "GET",
                        f"/api/mcp/agents/{agent}/tools/explain"
                        f"?connector_id={connector}&tool={tool}",
                    )
                    expected = self.world.decision(agent, connector, tool)
                    assert explained.data["stance"] == expected

    def _request(self, drawn: Drawn) -> Request:
        """Put names to what was drawn, which must not depend on how races end."""
        connectors = list(self.world.connectors)
        connector = _one_of(connectors, drawn.connector)
        agent = _one_of(list(self.world.agents), drawn.agent)
        caller = drawn.caller
        if caller == "owner":
            known = self.world.connectors.get(connector)
            caller = known.owner if known else "ada"
        elif caller == "manager":
            found = self.world.agents.get(agent)
            caller = min(found.managers, default="ada") if found else "ada"
        rules = tuple(
            (connector if other is None else _one_of(connectors, other), *rest)
            for other, *rest in drawn.rules
        )
        return Request(
            kind=drawn.kind,
            caller=caller,
            agent=agent,
            connector=connector,
            user=drawn.user,
            rules=rules if drawn.kind == "rules" else (),  # type: ignore[arg-type]
            if_match=drawn.if_match if drawn.kind == "rules" else None,
        )

    async def _send_all(self, requests: list[Request]) -> list[Reply]:
        return await asyncio.gather(*map(self._send, requests))

    def _send(self, request: Request) -> Awaitable[Reply]:
        caller = self.service.users[request.caller]
        connector = f"/api/mcp/connectors/{request.connector}"
        grant = f"{connector}/grants/agents/{request.agent}"
        manager = (
            f"/api/catalog/agents/{request.agent}/managers/"
            f"{self.service.users[request.user].user_id if request.user else ''}"
        )
        calls = {
            "grant": (caller.put, grant),
            "revoke": (caller.delete, grant),
            "public": (caller.post, f"{connector}/grants/public"),
            "private": (caller.delete, f"{connector}/grants/public"),
            "retire": (caller.delete, connector),
            "appoint": (caller.put, manager),
            "dismiss": (caller.delete, manager),
        }
        if request.kind != "rules":
            call, path = calls[request.kind]
            return call(path)
        headers = (
            {} if request.if_match is None else {"If_Match": f'"{request.if_match}"'}
        )
        names = ("connector_id", "tool_pattern", "stance")
        body = {
            "rules": [dict(zip(names, each, strict=True)) for each in request.rules]
        }
        return caller.put(f"/api/mcp/agents/{request.agent}/tools", body, **headers)

    def _call(self, name: str, method: str, path: str, body: Any = None) -> Reply:
        reply = self.service.run(self.service.users[name].call(method, path, body))
        assert reply.status in (200, 201), reply
        return reply

    def _expect_rules_in_answer(
        self, world: World, request: Request, reply: Reply
    ) -> None:
        if request.kind == "rules" and reply.status == 200:
            assert world.seen_by(request.caller, request) == [
                (each["connector_id"], each["tool_pattern"], each["stance"])
                for each in reply.data["rules"]
            ]


def _one_of(ids: list[str], number: int) -> str:
    return NOBODY if number == NUMBER_OF_NOBODY else ids[number % len(ids)]


def _position(reply: Reply) -> int | None:
    return reply.position if "X-Event-Position" in reply.headers else None


def machine_for(service: Service) -> type[Crowd]:
    return type("CrowdOfThisTest", (Crowd,), {"service": service})


def test_crowd_gets_what_the_specification_says(service: Service) -> None:
    run_state_machine_as_test(
        machine_for(service),
        settings=settings(
            max_examples=20,
            stateful_step_count=20,
            deadline=None,
            database=None,
            # A race doesn't end the same way twice, so there is nothing to shrink.
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        ),
    )
