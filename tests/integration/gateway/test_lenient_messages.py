"""What clients write differently for the same message."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from aiohttp import web

from service.gateway.protocol.revisions import ACCEPT
from tests.integration.gateway.fake_gate import TOKEN
from tests.integration.gateway.plain_upstream import PlainUpstream, streamed
from tests.integration.gateway.stage import Stage, forwarding, opened

HANDSHAKE: Mapping[str, Any] = {"jsonrpc": "2.0", "id": 1}


@pytest.mark.parametrize(
    "params",
    [
        {"arguments": None},
        {"arguments": {}, "requestState": None, "inputResponses": None},
        {"arguments": {}, "task": None},
        {},
    ],
)
async def test_null_is_a_field_that_is_absent(params: dict[str, Any]) -> None:
    async with forwarding() as (upstream, stage):
        called = {"name": "tools_add", **params}
        stateless = await stage.ask("tools/call", called)
        handshake = await stage.post(
            {**HANDSHAKE, "method": "tools/call", "params": {**called, "_meta": None}}
        )

    assert (stateless.content, handshake.content) == ("hello", "hello")
    assert [body["params"]["arguments"] for _, body in upstream.requests] == [{}, {}]
    assert not any("requestState" in body["params"] for _, body in upstream.requests)
    assert {call.arguments for call in stage.gate.calls} == {b"{}"}


@pytest.mark.parametrize("params", [None, {"cursor": None}, {"cursor": ""}])
async def test_a_list_from_its_beginning(params: Any) -> None:
    async with opened() as stage:
        stage.gate.connect("http://127.0.0.1:9/mcp", "add")
        got = await stage.post({**HANDSHAKE, "method": "tools/list", "params": params})
        asked = await stage.ask("tools/list", params)

    for each in (got, asked):
        assert [tool["name"] for tool in each.body["result"]["tools"]] == ["tools_add"]


@pytest.mark.parametrize("cursor", ["x", 0, False, {}])
async def test_another_page_of_a_list_is_refused(cursor: Any) -> None:
    async with opened() as stage:
        assert (await stage.ask("tools/list", {"cursor": cursor})).code == -32602


async def test_null_within_arguments_is_a_value() -> None:
    async with forwarding() as (upstream, stage):
        await stage.call("tools_add", a=None)

    ((_, body),) = upstream.requests
    assert body["params"]["arguments"] == {"a": None}


async def test_a_progress_token_that_is_null_is_none() -> None:
    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        progress = {"progressToken": body["id"], "progress": 1}
        told = {"jsonrpc": "2.0", "method": "notifications/progress"}
        result = {"content": [{"type": "text", "text": "hello"}]}
        last = {"jsonrpc": "2.0", "id": body["id"], "result": result}
        sent = ({**told, "params": progress}, last)
        return await streamed(request, *map(orjson.dumps, sent))

    upstream: PlainUpstream
    async with forwarding(answer) as (upstream, stage):
        meta = {"_meta": {"progressToken": None}}
        got = await stage.ask("tools/call", {"name": "tools_add", **meta})

    assert got.content == "hello"
    ((_, body),) = upstream.requests
    assert "progressToken" not in body["params"]["_meta"]


async def post_to(stage: Stage, path: str) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {TOKEN}", "Accept": ACCEPT}
    body = {**HANDSHAKE, "method": "tools/list"}
    async with stage.http.post(path, headers=headers, json=body) as response:
        return response.status, await response.json()


async def test_the_address_may_end_in_a_slash() -> None:
    async with opened() as stage:
        connector = stage.gate.connect("http://127.0.0.1:9/mcp", "add")
        for path in (stage.path(), stage.path(connector.connector_id)):
            plain = await post_to(stage, path)
            assert plain[0] == 200
            assert await post_to(stage, f"{path}/") == plain
