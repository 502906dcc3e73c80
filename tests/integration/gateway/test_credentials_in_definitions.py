"""Definitions of tools that hold the credential that their upstream was sent."""

import base64
import urllib.parse
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from aiohttp import web

from service.gateway.definition import ToolDefinition, digest_of
from service.gateway.upstream.client import UpstreamClient
from service.gateway.upstream.connections import open_upstream_connections
from service.gateway.upstream.listing import Listing, list_tools
from service.upstream_http.addresses import AddressPolicy
from tests.integration.gateway.plain_upstream import (
    Answer,
    plain_upstream,
)
from tests.integration.gateway.returning import (
    clean_tool,
    credential,
    lists,
    new_value,
    received,
    schema,
)
from tests.integration.gateway.stage import LOOPBACK, opened

DEFINITIONS: dict[str, Callable[[str], Mapping[str, Any]]] = {
    "a description": lambda got: {"description": f"Called with Authorization: {got}"},
    "a title in base64": lambda got: {"title": base64.b64encode(got.encode()).decode()},
    "a default": lambda got: {"inputSchema": schema(a={"default": {"token": got}})},
    "a property's name": lambda got: {"inputSchema": schema(**{got.split()[1]: {}})},
    "a URL": lambda got: {
        "annotations": {"title": f"https://a.example/?key={urllib.parse.quote(got)}"}
    },
}


async def listed(answer: Answer, value: str) -> Listing:
    async with plain_upstream(answer) as upstream, opened() as stage:
        made = stage.gate.connect(upstream.url)
        changed = stage.gate.change(made, credential=credential(value))
        async with open_upstream_connections(AddressPolicy([LOOPBACK])) as connections:
            return await list_tools(UpstreamClient(connections), changed)


@pytest.mark.parametrize("name", DEFINITIONS)
async def test_a_definition_with_the_credential_is_withheld(name: str) -> None:
    value = new_value()

    def echoing(got: str) -> Mapping[str, Any]:
        return {"name": "echo", "inputSchema": schema(), **DEFINITIONS[name](got)}

    found = await listed(lists(clean_tool("add"), echoing), value)

    add, echo = found.definitions
    assert add == ToolDefinition.of(clean_tool("add")(""))
    assert (echo.name, echo.has_credential) == ("echo", True)
    # Of the name alone: nobody can test guesses of the secret by it.
    assert echo.digest == digest_of({"name": "echo"})
    assert echo.document == {"name": "echo"}


async def test_a_tool_whose_name_has_the_credential_is_left_out() -> None:
    def named(got: str) -> Mapping[str, Any]:
        return {"name": f"x-{got.split()[1]}", "inputSchema": schema()}

    found = await listed(lists(named, clean_tool("add")), new_value())

    assert [each.name for each in found.definitions] == ["add"]


async def test_what_is_not_kept_of_a_tool_withholds_nothing() -> None:
    def pictured(got: str) -> Mapping[str, Any]:
        return {
            "name": "add",
            "inputSchema": {"type": "object"},
            "_meta": {"a.b/c": got},
            "icons": [{"src": f"https://a.example/{got}"}],
        }

    (found,) = (await listed(lists(pictured), new_value())).definitions

    assert found == ToolDefinition.of(clean_tool("add")(""))


async def test_a_cursor_with_the_credential_leads_to_the_next_page() -> None:
    async def pages(request: web.Request, body: Any) -> web.StreamResponse:
        cursor = f"2 {received(request)}"
        if body["params"].get("cursor") == cursor:
            return await lists(clean_tool("b"))(request, body)
        return await lists(clean_tool("a"), nextCursor=cursor)(request, body)

    found = await listed(pages, new_value())

    assert [each.name for each in found.definitions] == ["a", "b"]
