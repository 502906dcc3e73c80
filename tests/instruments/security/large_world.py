"""A world as large as one caller can make it with a few hundred requests."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final

from service.model_gateway.presets.terms import TARGETS_MAX
from service.resources import Resources
from service.sessions.otlp.pending import SPANS_OF_TRACE_MAX
from service.tool_rules.body import RULES_MAX
from service.tool_rules.commands import RULES_PER_AGENT_MAX
from tests.support.audit.tampering import sign
from tests.support.callers import Caller
from tests.support.model_gateway.operations import (
    hostile_models,
    preset,
    target,
)
from tests.support.operations.asks import LONG_TEXT, World
from tests.support.operations.catalog import make_things
from tests.support.operations.walk import Walk
from tests.support.sessions.otlp.spans import export, llm, send, span
from tests.support.tool_rules.operations import hostile_rules

CONNECTORS: Final = RULES_PER_AGENT_MAX // RULES_MAX
LARGE_EVENTS: Final = 40
CONSOLE_FILE: Final = {"folder": "vendor", "file": "uplot.mjs"}
TURNS: Final = 101
SESSIONS: Final = 101
PAGE: Final = 101
AT_ONCE: Final = 10


async def make_large_world(resources: Resources, caller: Caller, folder: Path) -> World:
    walk = Walk(caller)
    await sign(resources, folder)
    ids = await make_things(walk)
    world = World(
        resources=resources, caller=caller, examples=walk.examples, ids=dict(ids)
    )
    world.ids |= {"asset": "page.js", "user_name": "ada", **CONSOLE_FILE}
    world.ids |= {"model": "m", "path": "v1/files"}
    world.turn = dict(walk.examples["post_turn"]["body"])
    await _make_rules(world)
    await _make_routing(world)
    await _make_sessions(world)
    await _make_long_turns(world)
    await _make_pages(world)
    await _make_token(world)
    await world.caught_up()
    return world


async def _make_token(world: World) -> None:
    """Make a token of an agent without connectors: nothing is sent to an upstream."""
    agent = await world.caller.post("/api/catalog/agents", {"name": "alone"})
    world.ids["alone_agent_id"] = agent.data["id"]
    path = f"/api/mcp/agents/{agent.data['id']}/tokens"
    made = await world.caller.post(path, {"label": "alone"})
    assert made.status == 201, made.data
    world.agent_token = made.data["token"]


async def _make_rules(world: World) -> None:
    caller = world.caller
    connectors = []
    for number in range(CONNECTORS):
        body = {"name": f"c{number}" + "n" * 120, "url": "https://c.example/mcp"}
        connectors.append((await caller.post("/api/mcp/connectors", body)).data["id"])
    world.connectors = connectors
    for name in ("hostile", "full"):
        agent = await caller.post("/api/catalog/agents", {"name": name})
        world.ids[f"{name}_agent_id"] = agent_id = agent.data["id"]
        for connector in [*connectors, world.ids["connector_id"]]:
            for _consent in range(2):
                await caller.put(
                    f"/api/mcp/connectors/{connector}/grants/agents/{agent_id}"
                )
    for number in range(LARGE_EVENTS):
        await _replace(
            world, "hostile", hostile_rules("?"), world.ids["connector_id"], number
        )
    for number, connector in enumerate(connectors):
        patterns = [f"{'n' * 240}{each}*" for each in range(RULES_MAX)]
        await _replace(world, "full", patterns, connector, number)


async def _replace(
    world: World, name: str, patterns: Sequence[str], connector: str, number: int
) -> None:
    agent_id = world.ids[f"{name}_agent_id"]
    rules = [
        {
            "connector_id": connector,
            "tool_pattern": pattern,
            "stance": ("allow", "deny")[number % 2],
        }
        for pattern in patterns
    ]
    reply = await world.caller.put(
        f"/api/mcp/agents/{agent_id}/tools", {"rules": rules}
    )
    assert reply.status == 200, reply.data
    world.positions[f"{name}_agent_id"] = reply.position
    await world.caught_up()
    entry = await world.caller.get(f"/api/audit/events/{reply.position}")
    world.ids[f"{name}_rules_id"] = entry.data["resource"]["id"]


async def _make_routing(world: World) -> None:
    """Let an agent have as many routes as it can, each to as many targets."""
    caller, agent_id = world.caller, world.ids["hostile_agent_id"]
    connection_id = world.ids["connection_id"]
    routes = []
    for number, model in enumerate(hostile_models()):
        targets = [
            target(connection_id, f"swift-{number}-{each}")
            for each in range(TARGETS_MAX)
        ]
        made = await caller.post(
            "/api/llm-router/presets", preset(targets, visibility="public")
        )
        assert made.status == 201, made.data
        routes.append({"model": model, "preset_id": made.data["id"]})
    world.ids["public_preset_id"] = routes[0]["preset_id"]
    path = f"/api/agents/{agent_id}/llm-routing"
    reply = await caller.put(path, {"routes": routes, "tiers": {}})
    assert reply.status == 200, reply.data


async def _make_sessions(world: World) -> None:
    caller, session_id = world.caller, "a-long-session"
    world.ids["long_session_id"] = session_id
    start = {"agent_id": world.ids["agent_id"]}
    path = "/api/observability/session"
    await caller.post(path, {**start, "session_id": session_id})
    texts = {"input": LONG_TEXT, "output": LONG_TEXT}

    async def turn(number: int) -> None:
        body = {**world.turn, **texts, "turn_id": f"turn-{number}"}
        reply = await caller.post(f"{path}/{session_id}/turns", body)
        assert reply.status == 201, reply.data

    await _at_once(turn, TURNS)

    async def converse(number: int) -> None:
        each = f"session-{number}"
        await caller.post(path, {**start, "session_id": each})
        turn = {**world.turn, **texts, "turn_id": "only"}
        await caller.post(f"{path}/{each}/turns", turn)

    await _at_once(converse, SESSIONS)


async def _make_long_turns(world: World) -> None:
    """Make turns of as many calls as spans fit into a trace, some of many models."""
    agent_id = world.ids["full_agent_id"]
    for number, models in enumerate((1, SPANS_OF_TRACE_MAX)):
        calls = [
            llm(
                each,
                1,
                each,
                1,
                trace=number + 1,
                gen_ai__request__model="late",
                llm__model_name=f"model-{each % models}",
            )
            for each in range(2, SPANS_OF_TRACE_MAX + 1)
        ]
        root = span(1, trace=number + 1, session__id=f"long-turns-{number}", took=9)
        body = export(agent_id, root, *calls)
        sent = await send(world.caller, body, Content_Encoding="gzip")
        assert sent.rejected == 0, sent
    # Repricing changes each call.
    price = {
        "provider": "acme",
        "model": "late",
        "input_price_per_1m": 1,
        "output_price_per_1m": 1,
        "effective_from": "2026-01-01T00:00:00Z",
    }
    reply = await world.caller.post("/api/llm-router/prices", price)
    assert reply.status == 201, reply.data


async def _make_pages(world: World) -> None:
    caller = world.caller
    long = "d" * 2000
    user_id = world.ids["user_id"]

    async def fill(number: int) -> None:
        await caller.post("/api/users", {"name": f"user-{number}"})
        await caller.post(f"/api/users/{user_id}/tokens", {"label": f"t{number}"})
        name = f"{number:03}" + "n" * 120
        described = {"name": name, "description": long}
        await caller.post("/api/catalog/agents", described)
        url = "https://c.example/" + "u" * 2000
        await caller.post("/api/mcp/connectors", {**described, "url": url})
        secret = {"name": f"S{number}", "value": "s" * 1000}
        await caller.post("/api/secrets", secret)
        await caller.put("/api/secrets/TRACKER_TOKEN", {"value": f"value {number}"})

    await _at_once(fill, PAGE)


async def _at_once(make: Callable[[int], Awaitable[None]], count: int) -> None:
    for start in range(0, count, AT_ONCE):
        await asyncio.gather(*map(make, range(start, min(count, start + AT_ONCE))))
