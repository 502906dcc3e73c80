"""Tool definitions as their owner reads and accepts them, and as servers list them."""

import threading
from typing import Any
from uuid import UUID

import pytest
from aiohttp.test_utils import TestClient

from service.gateway.definition import ToolDefinition
from service.gateway.definitions import commands
from service.gateway.schemas.hidden import HiddenCharacters
from service.gateway.tool_gate import ToolGate
from service.resources import Resources
from tests.integration.gateway.world import ALLOW, TOOLS, World, tool
from tests.support.callers import Callers
from tests.support.connectors.making import TRACKER
from tests.support.gateway.listing import CREATE, LIST
from tests.support.gateway.observing import observe
from tests.support.gateway.served import stateless


async def test_the_owner_reads_and_accepts_definitions(
    callers: Callers, client: TestClient, resources: Resources
) -> None:
    ada = await callers.user("ada")
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data["id"]
    path = f"/api/mcp/connectors/{connector}/definitions"
    assert (await ada.get(path)).data["tools"] == []
    await observe(resources.log, UUID(connector), [CREATE])
    hidden = {**LIST, "name": "issues.\u200blist"}
    changed = {**CREATE, "description": "File an issue"}
    await observe(resources.log, UUID(connector), [changed, hidden])

    shown = await ada.get(path)

    tools = {each["tool"]: each for each in shown.data["tools"]}
    create, zero_width = tools["issues.create"], tools[hidden["name"]]
    assert create["standing"] == "changed"
    assert create["differences"] == [
        {"path": "description", "before": None, "after": "File an issue"}
    ]
    assert zero_width["standing"] == "unacceptable"
    assert zero_width["name_escaped"] == "issues.\\u200blist"

    async def accept(tool: str, digest: str, **headers: str) -> tuple[int, str]:
        body = {"definitions": {tool: digest}}
        reply = await ada.post(f"{path}/accept", body, **headers)
        return reply.status, reply.data.get("code", reply.message)

    stale = await accept("issues.create", "0" * 64)
    assert stale == (409, "definition_changed")
    never = await accept(str(hidden["name"]), str(zero_width["digest"]))
    assert never == (409, "definition_unacceptable")
    unknown = await accept("x", "0" * 64)
    assert unknown == (404, "not_found")
    current = {"If_Match": shown.headers["ETag"]}
    digest = str(create["digest"])
    done = await accept("issues.create", digest, **current)
    assert done == (200, "definitions accepted")
    moved = await accept("issues.create", digest, **current)
    assert moved == (412, "precondition_failed")


@pytest.mark.parametrize(("description", "taken"), [("", 500), ("x" * 5000, 206)])
async def test_tools_beyond_the_bounds_are_left_out_and_named(
    world: World, description: str, taken: int
) -> None:
    upstream = await world.gate.upstream_to_list(world.connector_id)
    assert upstream is not None
    described = {**CREATE, "description": description}
    names = [f"tool-{number:04}" for number in range(1000)]
    many = [ToolDefinition.of({**described, "name": name}) for name in names]

    observed = await world.gate.observed(upstream, many)

    assert observed is not None
    assert (observed.tools, observed.left_out) == (taken, names[taken:])
    shown = (await world.ada.get(f"{world.connector}/definitions")).data["tools"]
    assert {each["tool"] for each in shown if each["standing"] != "gone"} == {
        *names[:taken]
    }


async def test_a_new_tool_never_takes_the_room_of_an_accepted_one(
    world: World,
) -> None:
    upstream = await world.gate.upstream_to_list(world.connector_id)
    assert upstream is not None
    many = [
        ToolDefinition.of({**CREATE, "name": f"b{number}"}) for number in range(500)
    ]
    await world.gate.observed(upstream, many)
    first = ToolDefinition.of({**CREATE, "name": "a"})

    observed = await world.gate.observed(upstream, [first, *many])

    assert observed is not None
    assert (observed.is_changed, observed.left_out) == (False, ["a"])


async def test_nothing_is_recorded_that_a_server_at_a_former_url_lists(
    world: World,
) -> None:
    upstream = await world.gate.upstream_to_list(world.connector_id)
    assert upstream is not None
    read = (await world.ada.get(f"{world.connector}/definitions")).data
    await world.moves("https://other.example/mcp")
    changed = [ToolDefinition.of({**CREATE, "description": "of the old server"})]

    assert await world.gate.observed(upstream, changed) is None

    assert (await world.ada.get(f"{world.connector}/definitions")).data == read
    upstream = await world.gate.upstream_to_list(world.connector_id)
    assert upstream is not None
    observed = await world.gate.observed(upstream, changed)
    assert observed is not None
    assert observed.is_changed


async def test_what_strict_clients_refuse_is_left_out_and_said(world: World) -> None:
    odd = tool("issues.odd", outputSchema={"type": "strin"}, title=None)
    array = tool("issues.array", outputSchema={"type": "array"})
    invalid = tool("issues.invalid")
    invalid["inputSchema"] = {"type": "object", "properties": []}
    await world.lists(*TOOLS, odd, array, invalid)
    await world.accept("issues.odd")
    await world.accept("issues.array")
    await world.rule(any=ALLOW)

    defined = (await world.ada.get(f"{world.connector}/definitions")).data["tools"]

    shown = {each["tool"]: each for each in defined}
    assert shown["issues.odd"]["left_out"] == [
        "title isn't a text",
        "outputSchema.type isn't valid JSON Schema 2020-12",
    ]
    assert shown["issues.odd"]["definition"] == odd
    assert shown["issues.array"]["left_out"] == []
    assert shown["issues.invalid"]["standing"] == "unacceptable"
    assert shown["issues.invalid"]["reason"] == (
        "inputSchema.properties isn't valid JSON Schema 2020-12"
    )
    for is_stateless in (True, False):
        listed = {each["name"]: each for each in await rendered(world, is_stateless)}
        assert "tracker_issues_invalid" not in listed
        of_odd = next(each for name, each in listed.items() if "odd" in name)
        assert not of_odd.keys() & {"outputSchema", "title"}
        of_array = next(each for name, each in listed.items() if "array" in name)
        assert ("outputSchema" in of_array) == is_stateless


async def rendered(world: World, is_stateless: bool) -> list[dict[str, Any]]:  # noqa: FBT001
    """Return the list as agents of one of the eras get it."""
    body, headers = stateless("tools/list", {})
    if not is_stateless:
        body, headers = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, {}
    headers = {"Authorization": f"Bearer {world.token}", **headers}
    path = f"/mcp/agents/{world.agent_id}"
    async with world.client.post(path, json=body, headers=headers) as response:
        tools: list[dict[str, Any]] = (await response.json())["result"]["tools"]
        return tools


async def test_keys_of_schemas_stay_in_the_server_s_order(world: World) -> None:
    """Models fill in arguments in that order."""
    properties = {"reasoning": {"type": "string"}, "answer": {"type": "string"}}
    schema = {"type": "object", "properties": properties}
    sorted_schema = {**schema, "properties": {**dict(sorted(properties.items()))}}
    decide = {"name": "decide", "inputSchema": schema}
    reordered = {"inputSchema": sorted_schema, "name": "decide"}
    await world.lists(decide)
    await world.accept("decide")
    await world.rule(decide="allow")

    caller = await world.caller()
    (listed,) = (await world.gate.tools(caller)).tools

    shown = [*listed.definition.document["inputSchema"]["properties"]]
    assert shown == ["reasoning", "answer"]
    digest = ToolDefinition.of(reordered).digest
    assert listed.definition.digest == digest
    log = world.resources.log
    assert not await observe(log, world.connector_id, [reordered])


@pytest.mark.parametrize(
    ("setting", "shown"),
    [(None, "Ask"), ("mark", "<U+202E>Ask"), ("keep", "\u202eAsk")],
)
async def test_what_agents_see_of_hidden_characters_is_a_setting(
    world: World, setting: str | None, shown: str
) -> None:
    await world.lists(tool("issues.ask", description="\u202eAsk"))
    await world.accept("issues.ask")
    await world.rule(any=ALLOW)
    gate = world.gate
    if setting is not None:
        gate = ToolGate(
            world.resources.log,
            world.resources.key_ring,
            world.resources.vault,
            to_observe=nothing,
            overdue_approvals=nothing,
            hidden_characters=HiddenCharacters(setting),
        )

    (listed,) = (await gate.tools(await world.caller())).tools

    assert listed.definition.presented.document["description"] == shown
    assert listed.definition.document["description"] == "\u202eAsk"


async def test_the_owner_is_told_of_hidden_characters(world: World) -> None:
    await world.lists(tool("issues.ask", description="\u202eAsk"))

    (shown,) = [
        each
        for each in (await world.ada.get(f"{world.connector}/definitions")).data[
            "tools"
        ]
        if each["tool"] == "issues.ask"
    ]

    assert shown["definition"]["description"] == "\u202eAsk"
    assert shown["left_out"] == [
        "description: hidden characters are removed (U+202E)",
    ]


async def nothing(*_: object) -> list[UUID]:
    return []


async def test_definitions_are_checked_beside_the_event_loop(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Large schemas take long, and a connector may have many."""
    threads: list[threading.Thread] = []

    def check(_document: Any, _size: int) -> None:
        threads.append(threading.current_thread())

    monkeypatch.setattr(commands, "why_unacceptable", check)
    await world.lists(tool("large"))

    assert threads
    assert threading.main_thread() not in threads
