"""Tool definitions: what is observed, what is accepted, and what never is."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID, uuid4

import pytest
from aiohttp.test_utils import TestClient

from service.gateway.definition import ToolDefinition, canonical_json
from service.gateway.definitions.acceptable import why_unacceptable
from service.gateway.definitions.aggregate import Standing, ToolDefinitions
from service.gateway.definitions.difference import differences
from service.resources import Resources
from tests.callers import Callers
from tests.connectors.test_routes import TRACKER
from tests.gateway.observing import observe
from tests.gateway.world import World

CREATE = {"name": "issues.create", "inputSchema": {"type": "object"}}
LIST = {"name": "issues.list", "inputSchema": {"type": "object"}}


def seen(*listed: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for each in map(ToolDefinition.of, listed):
        document = canonical_json(each.document).decode()
        found[each.name] = {"digest": each.digest, "document": document}
    return found


def observed(*listed: Mapping[str, Any]) -> ToolDefinitions:
    definitions = ToolDefinitions(connector_id=str(uuid4()))
    definitions.observe(seen(*listed), {})
    return definitions


def test_the_first_observation_is_accepted() -> None:
    definitions = observed(CREATE)

    assert definitions.standing("issues.create") is Standing.ACCEPTED
    assert definitions.standing("issues.list") is None


def test_an_observation_that_differs_in_nothing_records_nothing() -> None:
    definitions = observed(CREATE)

    with_pictures = {**CREATE, "icons": [{"src": "x"}], "_meta": {"a": 1}}
    assert not definitions.observe(seen(with_pictures), {})


def test_a_new_name_waits_for_a_person() -> None:
    definitions = observed(CREATE)

    assert definitions.observe(seen(CREATE, LIST), {})

    assert definitions.standing("issues.list") is Standing.NEW
    assert definitions.accept(["issues.list"])
    assert definitions.standing("issues.list") is Standing.ACCEPTED


def test_a_changed_definition_waits_for_a_person_or_its_return() -> None:
    definitions = observed(CREATE)
    changed = {**CREATE, "description": "File an issue"}

    definitions.observe(seen(changed), {})

    assert definitions.standing("issues.create") is Standing.CHANGED
    definitions.observe(seen(CREATE), {})
    assert definitions.standing("issues.create") is Standing.ACCEPTED
    definitions.observe(seen(changed), {})
    definitions.accept(["issues.create"])
    assert definitions.standing("issues.create") is Standing.ACCEPTED


def test_a_tool_that_is_gone_comes_back_as_it_was() -> None:
    definitions = observed(CREATE, LIST)

    definitions.observe(seen(CREATE), {})

    assert definitions.standing("issues.list") is Standing.GONE
    definitions.observe(seen(CREATE, LIST), {})
    assert definitions.standing("issues.list") is Standing.ACCEPTED


def test_an_empty_list_is_an_observation() -> None:
    definitions = observed()

    definitions.observe(seen(CREATE), {})

    assert definitions.standing("issues.create") is Standing.NEW


@pytest.mark.parametrize(
    "name",
    ["", "issues.cre\u200bate", "issues\u202e", "\u0456ssues", "a b", "x" * 129],
)
def test_a_name_that_looks_like_another_is_never_accepted(name: str) -> None:
    assert why_unacceptable({**CREATE, "name": name}, 100)
    assert why_unacceptable(CREATE, 100) is None
    assert why_unacceptable({"name": "x"}, 100)
    assert why_unacceptable(CREATE, 10**6)


def test_differences_have_paths() -> None:
    before = {"a": [1, {"b": "x"}], "same": 1, "old": True}
    after = {"a": [1, {"b": "y"}, 3], "same": 1}

    assert differences(before, after) == [
        {"path": "a[1].b", "before": "x", "after": "y"},
        {"path": "a[2]", "before": None, "after": 3},
        {"path": "old", "before": True, "after": None},
    ]


def test_values_of_other_types_differ_however_deep() -> None:
    before = {"enum": [1, 0], "schema": {"maximum": 1, "same": [1.5, None]}}
    after = {"enum": [True, False], "schema": {"maximum": 1.0, "same": [1.5, None]}}

    found = differences(before, after)

    assert repr(found) == repr(
        [
            {"path": "enum[0]", "before": 1, "after": True},
            {"path": "enum[1]", "before": 0, "after": False},
            {"path": "schema.maximum", "before": 1, "after": 1.0},
        ]
    )


def test_null_differs_from_a_value_that_is_missing() -> None:
    found = differences({"default": None, "enum": [1]}, {"enum": [1, None]})

    assert found == [
        {"path": "default", "before": None, "after": None},
        {"path": "enum[1]", "before": None, "after": None},
    ]


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
    edited = {**TRACKER, "description": "", "url": "https://other.example/mcp"}
    shown = await world.ada.get(world.connector)
    version = shown.data["version"]
    moved = await world.ada.put(world.connector, edited, If_Match=f'"{version}"')
    assert moved.status == 200, moved.data
    changed = [ToolDefinition.of({**CREATE, "description": "of the old server"})]

    assert await world.gate.observed(upstream, changed) is None

    assert (await world.ada.get(f"{world.connector}/definitions")).data == read
    upstream = await world.gate.upstream_to_list(world.connector_id)
    assert upstream is not None
    observed = await world.gate.observed(upstream, changed)
    assert observed is not None
    assert observed.is_changed
