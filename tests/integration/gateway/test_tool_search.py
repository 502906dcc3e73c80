"""Clients that are listed two tools, which find and call those of connectors."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from typing import Any

import orjson
import pytest
from aiohttp import web
from mcp.shared.exceptions import MCPError

from service.gateway.endpoint.tool_search import FOUND, UNKNOWN_NAME
from service.gateway.gate import Outcome, RefusalReason, Refused
from service.gateway.protocol.errors import INVALID_PARAMS
from service.gateway.protocol.revisions import CAPABILITIES_KEY
from tests.integration.gateway.fake_gate import PENDING, FakeGate
from tests.integration.gateway.plain_upstream import answered
from tests.integration.gateway.sdk_server import serving, tools
from tests.integration.gateway.stage import Stage, forwarding, opened
from tests.integration.gateway.test_approved_rounds import ask_twice
from tests.integration.gateway.test_official_client import ERAS
from tests.integration.gateway.test_questions import Person
from tests.integration.gateway.test_traces import by_kind, traced
from tests.support.waiting import until

FIND, CALL = "find-tools", "call-tool"


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    """A server of the official SDK, among four hundred tools."""
    async with (
        serving(tools()) as url,
        opened(FakeGate(listed_max=40)) as stage,
    ):
        stage.gate.connect(url, "add", "fail", "count")
        many: list[dict[str, object]] = [
            {
                "name": f"export_report_{number}",
                "description": f"Export the report number {number}.",
                "inputSchema": {"type": "object"},
            }
            for number in range(397)
        ]
        stage.gate.connect(url, *many, slug="reports")
        yield stage


def text(result: Any) -> str:
    found: str = result.content[0].text
    return found


def calling(name: str, /, **arguments: Any) -> dict[str, Any]:
    return {"name": name, "arguments": arguments}


@pytest.mark.parametrize("mode", ERAS)
async def test_a_tool_is_found_and_called(stage: Stage, mode: str) -> None:
    async with stage.client(mode) as client:
        listed = (await client.list_tools()).tools
        found = await client.call_tool(FIND, {"query": "add numbers"})
        tool, *_ = orjson.loads(text(found))["tools"]
        result = await client.call_tool(CALL, calling(tool["name"], a=2, b=3))
        direct = await client.call_tool("tools_add", {"a": 2, "b": 3})

    assert [each.name for each in listed] == [FIND, CALL]
    assert "reports (397), tools (3)" in (listed[0].description or "")
    assert tool == {"name": "tools_add", "inputSchema": {"type": "object"}}
    assert orjson.loads(text(found))["matches"] == 398
    assert result == direct
    assert (text(result), result.is_error) == ("5", False)
    assert [(each.tool, each.arguments) for each in stage.gate.calls] == [
        ("add", b'{"a":2,"b":3}')
    ] * 2
    assert [each.outcome for each in stage.gate.ended] == [Outcome.OK] * 2


@pytest.mark.parametrize("mode", ERAS)
async def test_errors_and_progress_are_those_of_the_tool(
    stage: Stage, mode: str
) -> None:
    seen: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    async with stage.client(mode) as client:
        await client.list_tools()
        failed = await client.call_tool(CALL, calling("tools_fail"))
        counted = await client.call_tool(
            CALL, calling("tools_count", to=3), progress_callback=note
        )

    assert failed.is_error
    assert text(counted) == "counted to 3"
    assert seen == [1, 2, 3]
    assert [each.outcome for each in stage.gate.ended] == [
        Outcome.TOOL_ERROR,
        Outcome.OK,
    ]


@pytest.mark.parametrize("mode", ["2026-07-28", "legacy"])
@pytest.mark.parametrize("name", ["tools_none", "add", FIND, CALL, None])
async def test_what_is_not_listed_is_an_unknown_tool(
    stage: Stage, mode: str, name: str | None
) -> None:
    async with stage.client(mode) as client:
        await client.list_tools()
        result = await client.call_tool(CALL, {"name": name, "arguments": {}})

    assert result.is_error
    assert result.content[0].text == UNKNOWN_NAME  # type: ignore[union-attr]
    assert stage.gate.refusals == [RefusalReason.UNKNOWN_TOOL]


async def test_what_is_hidden_is_neither_found_nor_called(stage: Stage) -> None:
    hidden = Refused(reason=RefusalReason.DEFINITION_CHANGED, message="")
    stage.gate.denied["add"] = hidden

    found = await stage.call(FIND, query="add, count or fail")
    called = await stage.call(CALL, **calling("tools_add", a=1))

    names = [each["name"] for each in orjson.loads(found.content)["tools"]]
    assert sorted(names) == ["tools_count", "tools_fail"]
    assert called.content == UNKNOWN_NAME
    assert not stage.gate.calls


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        (FIND, {}, "query must be a text of at most 1000 characters"),
        (FIND, {"query": 1}, "query must be a text of at most 1000 characters"),
        (FIND, {"query": "x" * 1_001}, "query must be a text of at most"),
        (FIND, {"query": "x", "limit": 0}, "limit must be an integer from 1 to 20"),
        (FIND, {"query": "x", "limit": 21}, "limit must be an integer from 1 to 20"),
        (FIND, {"query": "x", "limit": True}, "limit must be an integer"),
        (CALL, {"name": "tools_add", "a": 1}, "put the tool's own arguments into"),
        (CALL, {"name": "tools_add", "arguments": "{}"}, "must be an object"),
        (CALL, [], "arguments must be an object"),
        (FIND, "x", "arguments must be an object"),
    ],
)
async def test_wrong_arguments_are_tool_errors_that_models_read(
    stage: Stage, name: str, arguments: Any, message: str
) -> None:
    got = await stage.ask("tools/call", {"name": name, "arguments": arguments})

    assert message in got.content
    assert got.body["result"]["isError"] is True
    assert not stage.gate.calls


async def test_null_is_no_limit(stage: Stage) -> None:
    """Some models write null for every argument that they don't give."""
    found = await stage.call(FIND, query="report", limit=None)

    assert len(orjson.loads(found.content)["tools"]) == FOUND


async def test_a_list_that_is_short_enough_is_whole(stage: Stage) -> None:
    """The two tools still work: a client may hold the list of before."""
    stage.gate.listed_max = 400

    listed = await stage.ask("tools/list")
    found = await stage.call(FIND, query="add", limit=1)
    called = await stage.call(CALL, **calling("tools_add", a=1, b=1))

    assert len(listed.body["result"]["tools"]) == 400
    assert "tools_add" in found.content
    assert called.content == "2"


async def test_without_the_setting_there_are_no_such_tools(stage: Stage) -> None:
    stage.gate.listed_max = None

    for name in (FIND, CALL):
        assert (await stage.call(name, query="add")).code == INVALID_PARAMS


async def test_one_connector_lists_all_its_tools(stage: Stage) -> None:
    connector_id = stage.gate.listed[0].connector.connector_id
    stage.gate.listed_max = 0

    async with stage.client("2026-07-28", connector_id) as client:
        listed = await client.list_tools()
        with pytest.raises(MCPError, match="unknown tool"):
            await client.call_tool(FIND, {"query": "add"})

    assert [tool.name for tool in listed.tools] == ["add", "fail", "count"]


async def test_a_call_waits_for_a_person(stage: Stage) -> None:
    stage.gate.asked.add("add")
    pending = await stage.call(CALL, **calling("tools_add", a=1, b=1))
    stage.gate.approved.set()
    again = await stage.call(CALL, **calling("tools_add", a=1, b=1))

    assert (pending.content, pending.body["result"]["isError"]) == (PENDING, True)
    assert again.content == "2"


@pytest.mark.parametrize("mode", ERAS)
async def test_a_tool_that_asks_for_input_gets_it_in_all_rounds(mode: str) -> None:
    person = Person("Ada", "blue")
    gate = FakeGate(listed_max=0)
    async with (
        forwarding(ask_twice, gate=gate) as (upstream, stage),
        stage.client(mode, elicitation_callback=person.answer) as client,
    ):
        await client.list_tools()
        result = await client.call_tool(CALL, calling("tools_add", a=1))

    assert text(result) == "Ada blue"
    assert len(upstream.requests) == 3
    for _, body in upstream.requests:
        assert body["params"]["name"] == "add"
        assert body["params"]["arguments"] == {"a": 1}


async def test_a_state_is_of_the_tools_own_arguments() -> None:
    """It is the same by the alias, and none of another tool's or argument's."""
    forms: Mapping[str, Any] = {
        "_meta": {CAPABILITIES_KEY: {"elicitation": {"form": {}}}}
    }
    gate = FakeGate(listed_max=0)
    async with forwarding(ask_twice, gate=gate) as (_, stage):
        stage.gate.pin(stage.gate.listed[0].connector, "other")

        async def call(name: str, arguments: Mapping[str, Any], **more: Any) -> Any:
            params = {"name": name, "arguments": arguments, **more, **forms}
            return (await stage.ask("tools/call", params)).body

        first = (await call(CALL, calling("tools_add", a=1)))["result"]
        answers = {"name": {"content": {"value": "Ada"}, "action": "accept"}}
        second = (await call(CALL, calling("tools_add", a=1), inputResponses=answers))[
            "result"
        ]
        state = {"requestState": second["requestState"]}
        colour = {"colour": {"content": {"value": "blue"}, "action": "accept"}}
        wrong = [
            await call(CALL, calling(name, **arguments), **state)
            for name, arguments in (("tools_add", {"a": 2}), ("tools_other", {"a": 1}))
        ]
        ended = await call("tools_add", {"a": 1}, inputResponses=colour, **state)

    assert first["resultType"] == "input_required"
    assert [each["error"]["code"] for each in wrong] == [INVALID_PARAMS] * 2
    assert ended["result"]["content"][0]["text"] == "Ada blue"


async def test_headers_that_repeat_arguments_are_sent_and_not_demanded() -> None:
    region = {"type": "string", "x-mcp-header": "Region"}
    schema = {"type": "object", "properties": {"region": region}}
    gate = FakeGate(listed_max=0)
    async with forwarding(gate=gate) as (upstream, stage):
        connector = stage.gate.listed[0].connector
        stage.gate.pin(connector, {"name": "deploy", "inputSchema": schema})

        called = await stage.call(CALL, **calling("tools_deploy", region="eu"))
        direct = await stage.call("tools_deploy", region="eu")

    ((headers, _),) = upstream.requests
    assert called.content == "hello"
    assert headers["Mcp-Param-Region"] == "eu"
    assert direct.status == 400


async def test_the_spans_of_a_call_name_the_tool_and_a_search_has_none() -> None:
    async with traced() as (received, _, stage):
        stage.gate.listed_max = 0
        await stage.call(FIND, query="add")
        await stage.call(CALL, **calling("tools_add", a=1))

    names = {kind: span.name for kind, span in by_kind(received).items()}
    assert names == {"server": "tools/call tools_add", "client": "tools/call add"}


async def test_a_client_with_a_handshake_cancels_the_call() -> None:
    stays = asyncio.Event()

    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        await stays.wait()
        return answered(body, {"content": []})

    async with forwarding(answer, gate=FakeGate(listed_max=0)) as (upstream, stage):
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        call = asyncio.create_task(
            stage.post({**body, "params": calling(CALL, **calling("tools_add"))})
        )
        await upstream.entered.wait()
        cancelled = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        await stage.post({"jsonrpc": "2.0", **cancelled})
        await until(upstream.left.is_set)
        await call

    assert [each.outcome for each in stage.gate.ended] == [Outcome.CANCELLED]
