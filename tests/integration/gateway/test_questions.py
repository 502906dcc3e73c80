"""Clients with a handshake are asked within their calls what upstreams ask."""

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Any
from uuid import uuid4

import orjson
import pytest
from aiohttp import ClientResponse, web
from aiohttp.test_utils import TestClient
from mcp import types
from mcp.server.mcpserver.resolve import Elicit, Resolve, Sample
from pydantic import BaseModel

from service.config import Config
from service.gateway.bounds import Bounds
from service.gateway.endpoint.questions import Questions
from service.gateway.endpoint.results import REQUESTS_MAX
from service.gateway.gate import Outcome
from service.gateway.upstream.errors import WANTS_INPUT
from tests.integration.gateway.fake_gate import TOKEN
from tests.integration.gateway.plain_upstream import (
    PlainUpstream,
    answered,
    plain_upstream,
)
from tests.integration.gateway.sdk_server import serving, tools
from tests.integration.gateway.second_process import another_process
from tests.integration.gateway.stage import (
    Stage,
    Unsealed,
    forwarding,
    opened,
)
from tests.integration.gateway.test_approved_rounds import ask_twice
from tests.integration.gateway.world import ALLOW, ASK, World, tool
from tests.support.configured import calling_loopback
from tests.support.waiting import until

TIMEOUT_S = 60
URL = "https://console.example/approvals/{approval_id}"
CALL = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}


class Person:
    """Answers what the official client is asked."""

    def __init__(self, *answers: str) -> None:
        self.answers = iter(answers)
        self.asked: list[Any] = []

    async def answer(self, _context: Any, params: Any) -> types.ElicitResult:
        self.asked.append(params)
        content: dict[str, Any] = {"value": next(self.answers)}
        return types.ElicitResult(action="accept", content=content)


async def test_the_official_client_is_asked_in_all_rounds() -> None:
    person = Person("Ada", "blue")
    async with (
        forwarding(ask_twice) as (upstream, stage),
        stage.client("legacy", elicitation_callback=person.answer) as client,
    ):
        await client.list_tools()
        result = await client.call_tool("tools_add", {"a": 1})

    assert result.content[0].text == "Ada blue"  # type: ignore[union-attr]
    assert [each.message for each in person.asked] == ["?", "?"]
    assert [each.outcome for each in stage.gate.ended] == [Outcome.OK] * 3
    assert len(upstream.requests) == 3
    for _, body in upstream.requests:
        declared = body["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        assert declared == {"elicitation": {"form": {}, "url": {}}}


async def test_a_client_that_declares_nothing_is_asked_nothing() -> None:
    async with (
        forwarding(ask_twice) as (upstream, stage),
        stage.client("legacy") as client,
    ):
        await client.list_tools()
        result = await client.call_tool("tools_add", {"a": 1})

    assert result.content[0].text == WANTS_INPUT  # type: ignore[union-attr]
    assert len(upstream.requests) == 1


class Name(BaseModel):
    value: str


def ask_name() -> Elicit[Name]:
    return Elicit("who?", Name)


def ask_model() -> Sample:
    text = types.TextContent(type="text", text="rhyme")
    return Sample([types.SamplingMessage(role="user", content=text)], max_tokens=9)


async def test_an_upstream_of_the_official_sdk_asks_the_official_client() -> None:
    server, person = tools(), Person("Ada")

    @server.tool()
    async def greet(
        name: Annotated[Name, Resolve(ask_name)],
        said: Annotated[types.CreateMessageResult, Resolve(ask_model)],
    ) -> str:
        """Greet."""
        assert isinstance(said.content, types.TextContent)
        return f"hello {name.value}, {said.content.text}"

    async def sample(_context: Any, _params: Any) -> types.CreateMessageResult:
        text = types.TextContent(type="text", text="banana")
        return types.CreateMessageResult(role="assistant", content=text, model="m")

    async with serving(server) as url, opened() as stage:
        stage.gate.connect(url, "greet")
        async with stage.client(
            "legacy", elicitation_callback=person.answer, sampling_callback=sample
        ) as client:
            await client.list_tools()
            result = await client.call_tool("tools_greet", {})

    assert result.content[0].text == "hello Ada, banana"  # type: ignore[union-attr]


@asynccontextmanager
async def asked_client(
    stage_or_http: TestClient, path: str, token: str, **capabilities: Any
) -> AsyncIterator["Asked"]:
    """Yield a client that is connected, and has declared elicitation."""
    headers = {
        "Authorization": f"Bearer {token}",
        "Accept": "application/json, text/event-stream",
    }
    params = {
        "protocolVersion": "2025-11-25",
        "capabilities": capabilities or {"elicitation": {}},
        "clientInfo": {"name": "t", "version": "1"},
    }
    message = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
    async with stage_or_http.post(path, json=message, headers=headers) as response:
        headers["Mcp-Session-Id"] = response.headers["Mcp-Session-Id"]
    headers["MCP-Protocol-Version"] = "2025-11-25"
    yield Asked(stage_or_http, path, headers)


class Asked:
    def __init__(self, http: TestClient, path: str, headers: dict[str, str]) -> None:
        self.http, self.path, self.headers = http, path, headers

    @asynccontextmanager
    async def call(self, name: str, **arguments: Any) -> AsyncIterator["Stream"]:
        message = {**CALL, "params": {"name": name, "arguments": arguments}}
        async with self.http.post(
            self.path, json=message, headers=self.headers
        ) as response:
            yield Stream(response)

    async def say(self, message: Mapping[str, Any], http: TestClient) -> int:
        sent = {"jsonrpc": "2.0", **message}
        async with http.post(self.path, json=sent, headers=self.headers) as response:
            return response.status

    async def accept(
        self, asked: Any, value: str, http: TestClient | None = None
    ) -> None:
        result = {"action": "accept", "content": {"value": value}}
        message = {"id": asked["id"], "result": result}
        assert await self.say(message, http or self.http) == 202


class Stream:
    def __init__(self, response: ClientResponse) -> None:
        self._response = response

    async def next(self) -> Any:
        """Return the next message of the stream."""
        async with asyncio.timeout(TIMEOUT_S):
            if self._response.content_type == "application/json":
                return await self._response.json()
            while True:
                line = await self._response.content.readline()
                if line.startswith(b"data: "):
                    return orjson.loads(line.removeprefix(b"data: "))
                assert line, "the stream has ended"

    async def text(self) -> str:
        message = await self.next()
        text: str = message["result"]["content"][0]["text"]
        return text


@asynccontextmanager
async def asking(
    **settings: Any,
) -> AsyncIterator[tuple[PlainUpstream, Stage, Asked]]:
    async with (
        forwarding(ask_twice, **settings) as (upstream, stage),
        asked_client(stage.http, stage.path(), TOKEN) as client,
    ):
        yield upstream, stage, client


async def test_what_a_client_declines_is_told() -> None:
    async with asking() as (upstream, _, client), client.call("tools_add") as stream:
        question = await stream.next()
        result = {"action": "decline"}
        await client.say({"id": question["id"], "result": result}, client.http)
        await until(lambda: len(upstream.requests) == 2)

    (_, body) = upstream.requests[1]
    assert body["params"]["inputResponses"] == {"name": result}
    assert question["method"] == "elicitation/create"


async def test_an_error_of_the_client_ends_the_call() -> None:
    async with asking() as (upstream, _, client), client.call("tools_add") as stream:
        question = await stream.next()
        error = {"code": -1, "message": "no"}
        await client.say({"id": question["id"], "error": error}, client.http)
        text = await stream.text()

    assert text == (
        "the tool asked for input, and got none: the client answered with an error"
    )
    assert len(upstream.requests) == 1


async def test_nobody_waits_for_an_answer_for_ever() -> None:
    async with (
        asking(bounds=Bounds(call_s=2.0)) as (_, _, client),
        client.call("tools_add") as stream,
    ):
        question = await stream.next()
        too_late = await stream.next()
        text = await stream.text()

    assert text.endswith("nobody answered in time")
    assert too_late["method"] == "notifications/cancelled"
    assert too_late["params"] == {"requestId": question["id"]}


async def test_other_answers_count_for_nothing() -> None:
    async with (
        asking() as (upstream, stage, client),
        client.call("tools_add") as stream,
    ):
        question = await stream.next()
        async with asked_client(stage.http, stage.path(), TOKEN) as other:
            await other.accept(question, "Eve")
        await client.accept({"id": "made up"}, "Eve")
        await client.accept({"id": 1}, "Eve")
        assert len(upstream.requests) == 1

        await client.accept(question, "Ada")
        second = await stream.next()
        await client.accept(question, "Eve")
        await client.accept(second, "blue")
        assert await stream.text() == "Ada blue"


async def test_only_the_first_answer_to_a_question_is_announced() -> None:
    announced: list[str] = []

    async def announce(pieces: Sequence[str]) -> None:
        announced.extend(pieces)

    async with (
        asking() as (_, stage, client),
        opened(
            stage.gate, questions=Questions(announce, Unsealed())
        ) as another_process,
        client.call("tools_add") as stream,
    ):
        elsewhere = another_process.http
        question = await stream.next()
        given = question["id"]
        made_up = ["", "made up", 1, "é", uuid4().hex, given[:-2], given + "00"]
        for each in made_up:
            await client.accept({"id": each}, "Eve", elsewhere)
        async with asked_client(stage.http, stage.path(), TOKEN) as other_session:
            await other_session.accept(question, "Eve", elsewhere)
        assert announced == []

        for each in (given, given, given.upper(), f"{given[:2]} {given[2:]}"):
            await client.accept({"id": each}, "Ada", elsewhere)

    assert len(announced) == 1


async def test_a_call_is_cancelled_while_its_client_is_asked() -> None:
    async with (
        asking() as (upstream, _, client),
        client.call("tools_add") as stream,
    ):
        await stream.next()
        params = {"requestId": 1}
        method = "notifications/cancelled"
        await client.say({"method": method, "params": params}, client.http)
        with pytest.raises(AssertionError, match="has ended"):
            await stream.next()

    assert len(upstream.requests) == 1


async def test_a_client_with_a_handshake_opens_the_link_to_an_approval() -> None:
    async with (
        plain_upstream() as upstream,
        opened(approval_url=URL, hold_s=TIMEOUT_S) as stage,
    ):
        stage.gate.connect(upstream.url, "add")
        stage.gate.asked.add("add")

        capabilities: dict[str, Any] = {"elicitation": {"url": {}}}
        async with (
            asked_client(stage.http, stage.path(), TOKEN, **capabilities) as client,
            client.call("tools_add") as stream,
        ):
            question = await stream.next()
            stage.gate.approved.set()
            message = {"id": question["id"], "result": {"action": "accept"}}
            await client.say(message, client.http)
            text = await stream.text()

    assert text == "hello"
    assert question["params"]["url"] == URL.format(approval_id=stage.gate.agent_id)


@pytest.fixture
def config() -> Config:
    return calling_loopback()


@pytest.fixture
async def upstream() -> AsyncIterator[PlainUpstream]:
    async with plain_upstream(ask_twice) as upstream:
        yield upstream


@pytest.fixture
async def mixing(world: World, upstream: PlainUpstream) -> World:
    await world.moves(upstream.url)
    await world.lists(tool("mix"))
    return world


def path_of(world: World) -> str:
    return f"/mcp/agents/{world.agent_id}/connectors/{world.connector_id}"


@pytest.mark.parametrize("size", [1, 60_000], ids=["short", "long"])
async def test_an_answer_may_arrive_in_another_process(
    mixing: World, tmp_path: Path, size: int
) -> None:
    await mixing.rule(mix=ALLOW)
    async with (
        another_process(mixing, tmp_path) as elsewhere,
        asked_client(mixing.client, path_of(mixing), mixing.token) as client,
        client.call("mix") as stream,
    ):
        await client.accept(await stream.next(), "A" * size, elsewhere)
        await client.accept(await stream.next(), "blue", elsewhere)
        text = await stream.text()

    assert text == "A" * size + " blue"


async def test_one_approval_covers_all_rounds(
    mixing: World, upstream: PlainUpstream
) -> None:
    await mixing.rule(mix=ASK)
    async with asked_client(mixing.client, path_of(mixing), mixing.token) as client:
        async with client.call("mix") as stream:
            assert "a person has to approve" in await stream.text()
        requested: Sequence[Any] = await mixing.recorded("approvals.requested")
        path = f"{mixing.agent}/approvals/{requested[-1].event.approval_id}/approve"
        await mixing.ada.post(path, {})
        async with client.call("mix") as stream:
            await client.accept(await stream.next(), "Ada")
            await client.accept(await stream.next(), "blue")
            text = await stream.text()

    assert text == "Ada blue"
    calls = [body for _, body in upstream.requests if body["method"] == "tools/call"]
    assert len(calls) == 3
    topics = [each.topic for each in await mixing.recorded()]
    assert topics.count("approvals.used") == 1
    assert topics.count("tool_call.continued") == 2


async def test_an_upstream_chooses_no_member_of_the_message_that_asks() -> None:
    async def ask(_request: web.Request, body: Any) -> web.StreamResponse:
        if "inputResponses" in body["params"]:
            return answered(body, {"content": [{"type": "text", "text": "thanks"}]})
        odd = {"id": CALL["id"], "jsonrpc": "1.0", "result": {}, "error": {}}
        question = {"method": "elicitation/create", "params": {"message": "?"}, **odd}
        asks = {"inputRequests": {"name": question}}
        return answered(body, {"resultType": "input_required", **asks})

    async with (
        forwarding(ask) as (_, stage),
        asked_client(stage.http, stage.path(), TOKEN) as client,
        client.call("tools_add") as stream,
    ):
        question = await stream.next()
        await client.accept(question, "Ada")
        assert await stream.text() == "thanks"

    assert question.keys() == {"jsonrpc", "id", "method", "params"}
    assert question["jsonrpc"] == "2.0"
    assert question["id"] != CALL["id"]


async def test_a_tool_asks_for_so_much_at_once() -> None:
    async def ask(_request: web.Request, body: Any) -> web.StreamResponse:
        question = {"method": "elicitation/create", "params": {"message": "?"}}
        asked = {str(number): question for number in range(REQUESTS_MAX + 1)}
        result = {"resultType": "input_required", "inputRequests": asked}
        return answered(body, result)

    async with (
        forwarding(ask) as (_, stage),
        asked_client(stage.http, stage.path(), TOKEN) as client,
        client.call("tools_add") as stream,
    ):
        assert await stream.text() == WANTS_INPUT
