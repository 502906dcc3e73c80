"""What upstreams with a handshake ask within a call, its client is asked."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer
from mcp import types
from mcp.server.mcpserver import Context
from pydantic import BaseModel

from service.gateway.endpoint import relayed_questions
from service.gateway.gate import Outcome
from service.gateway.upstream.credential_echo import REMOVED
from service.gateway.upstream.errors import WANTS_INPUT
from tests.integration.gateway.fake_gate import TOKEN
from tests.integration.gateway.plain_upstream import answered
from tests.integration.gateway.returning import credential
from tests.integration.gateway.sdk_server import serving, tools
from tests.integration.gateway.stage import Stage, opened
from tests.integration.gateway.test_questions import (
    Asked,
    Person,
    asked_client,
)
from tests.support.waiting import until

pytestmark = pytest.mark.filterwarnings(
    "ignore::mcp.shared.exceptions.MCPDeprecationWarning"
)
QUESTION = {"id": 7, "method": "elicitation/create", "params": {"message": "?"}}
RESULT = {"content": [{"type": "text", "text": "done"}]}
CANCELLATION = {
    "method": "notifications/cancelled",
    "params": {"requestId": QUESTION["id"]},
}
NOTHING: dict[str, Any] = {}
WHERE = pytest.mark.parametrize("where", ["in the call's stream", "beside"])


class Stream:
    """An event stream of the upstream's."""

    def __init__(self, response: web.StreamResponse) -> None:
        self._response = response

    async def say(self, message: dict[str, Any]) -> None:
        data = orjson.dumps({"jsonrpc": "2.0", **message})
        await self._response.write(b"data: " + data + b"\n\n")


@dataclass
class Upstream:
    """A server with sessions: ``declared`` are the capabilities that it was told.

    ``act`` is what a call does with its stream, and ``heard`` are the client's messages
    that answer nothing of ours.
    """

    act: Callable[["Upstream", Stream], Awaitable[None]]
    declared: list[dict[str, Any]] = field(default_factory=list)
    heard: list[dict[str, Any]] = field(default_factory=list)
    calls: int = 0
    status: int = 202
    # Answer a call by JSON, and ask beside.
    begins_late: bool = False
    late_answer: Callable[[Any], web.Response] = lambda body: answered(body, RESULT)
    # Given to all callers; None: each gets its own.
    session_id: str | None = None
    # Where a client listens; None without.
    standalone: Stream | None = None

    async def post(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        match body.get("method"):
            case "initialize":
                self.declared.append(body["params"]["capabilities"])
                agreed = {"protocolVersion": "2025-11-25", "capabilities": {}}
                answer = answered(body, agreed)
                session_id = self.session_id or f"session-{len(self.declared)}"
                answer.headers["Mcp-Session-Id"] = session_id
                return answer
            case "tools/call":
                return await self._called(request, body)
            case "notifications/cancelled" | None:
                self.heard.append(body)
                return web.Response(status=self.status)
        return web.Response(status=404 if "id" in body else 202)

    async def _called(self, request: web.Request, body: Any) -> web.StreamResponse:
        self.calls += 1
        if self.begins_late:
            await self.act(self, await self.beside())
            return self.late_answer(body)
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        stream = Stream(response)
        await self.act(self, stream)
        await stream.say({"id": body["id"], "result": RESULT})
        return response

    async def get(self, request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
        await response.prepare(request)
        self.standalone = Stream(response)
        await asyncio.Event().wait()
        return response

    async def beside(self) -> Stream:
        """Return the standalone stream, once a client listens."""
        await until(lambda: self.standalone is not None)
        assert self.standalone is not None
        return self.standalone

    async def answer(self, number: Any = 7) -> dict[str, Any]:
        """Wait for the answer to a question."""

        def found() -> dict[str, Any]:
            answers = (each for each in self.heard if each.get("id") == number)
            return next(answers, NOTHING)

        return await until(found)


async def ask(upstream: Upstream, stream: Stream) -> None:
    await stream.say(QUESTION)
    await upstream.answer()


@asynccontextmanager
async def upstream_that(
    act: Callable[[Upstream, Stream], Awaitable[None]], **settings: Any
) -> AsyncIterator[tuple[Upstream, Stage]]:
    upstream = Upstream(act)
    app = web.Application()
    app.router.add_post("/mcp", upstream.post)
    app.router.add_get("/mcp", upstream.get, allow_head=False)
    async with TestServer(app) as server, opened(**settings) as stage:
        stage.gate.connect(str(server.make_url("/mcp")), "add")
        yield upstream, stage


@asynccontextmanager
async def asking(
    act: Callable[[Upstream, Stream], Awaitable[None]], **settings: Any
) -> AsyncIterator[tuple[Upstream, Stage, Asked]]:
    async with (
        upstream_that(act, **settings) as (upstream, stage),
        asked_client(stage.http, stage.path(), TOKEN) as client,
    ):
        yield upstream, stage, client


class Name(BaseModel):
    value: str


@WHERE
async def test_tools_of_the_official_sdk_ask_the_official_client(where: str) -> None:
    server, person = tools(), Person("Ada")

    @server.tool()
    async def greet(ctx: Context) -> str:
        """Greet."""
        related = {} if where == "beside" else {"related_request_id": ctx.request_id}
        schema = Name.model_json_schema()
        name = await ctx.session.elicit_form("who?", schema, **related)
        text = types.TextContent(type="text", text="rhyme")
        said = await ctx.session.create_message(
            [types.SamplingMessage(role="user", content=text)], max_tokens=9, **related
        )
        assert isinstance(said.content, types.TextContent)
        assert name.content is not None
        return f"hello {name.content['value']}, {said.content.text}"

    async def sample(_context: Any, _params: Any) -> types.CreateMessageResult:
        text = types.TextContent(type="text", text="banana")
        return types.CreateMessageResult(role="assistant", content=text, model="m")

    async with serving(server, handshake_only=True) as url, opened() as stage:
        stage.gate.connect(url, "greet")
        async with stage.client(
            "legacy", elicitation_callback=person.answer, sampling_callback=sample
        ) as client:
            await client.list_tools()
            result = await client.call_tool("tools_greet", {})

    assert result.content[0].text == "hello Ada, banana"  # type: ignore[union-attr]
    assert [each.outcome for each in stage.gate.ended] == [Outcome.OK]


async def test_an_answer_is_passed_on_as_the_client_gives_it() -> None:
    async with asking(ask) as (upstream, _, client), client.call("tools_add") as stream:
        question = await stream.next()
        await client.accept(question, "Ada")
        assert await stream.text() == "done"
        answer = await upstream.answer()

    assert question["method"] == "elicitation/create"
    assert question["params"] == QUESTION["params"]
    assert question["id"] != QUESTION["id"]
    accepted = {"action": "accept", "content": {"value": "Ada"}}
    assert answer == {"jsonrpc": "2.0", "id": 7, "result": accepted}


@pytest.mark.parametrize("other", [{}, {"result": None}])
async def test_an_error_of_the_client_is_for_the_tool(other: dict[str, Any]) -> None:
    error = {"code": -1, "message": "no"}
    async with asking(ask) as (upstream, _, client), client.call("tools_add") as stream:
        question = await stream.next()
        message = {"id": question["id"], "error": error, **other}
        await client.say(message, client.http)
        assert await stream.text() == "done"
        answer = await upstream.answer()

    assert answer == {"jsonrpc": "2.0", "id": 7, "error": error}


async def test_sessions_declare_what_their_client_can_be_asked_for() -> None:
    async with asking(ask) as (upstream, stage, client):
        assert (await stage.call("tools_add")).content == WANTS_INPUT
        async with (
            asked_client(stage.http, stage.path(), TOKEN, roots={}) as other,
            other.call("tools_add") as stream,
        ):
            assert await stream.text() == WANTS_INPUT
        for _ in range(2):
            upstream.heard.clear()
            async with client.call("tools_add") as stream:
                await client.accept(await stream.next(), "Ada")
                assert await stream.text() == "done"

    assert upstream.declared == [{}, {"roots": {}}, {"elicitation": {}}]


async def test_clients_make_few_sessions_whatever_they_declare() -> None:
    async with upstream_that(ask) as (upstream, stage):
        oddities: list[dict[str, Any]] = [{"x": 1}, {"y": {"z": []}}, {}]
        for odd in oddities:
            async with (
                asked_client(
                    stage.http, stage.path(), TOKEN, elicitation=odd, other=odd
                ) as client,
                client.call("tools_add") as stream,
            ):
                await client.accept(await stream.next(), "Ada")
                assert await stream.text() == "done"

    assert upstream.declared == [{"elicitation": {}}]


async def test_several_questions_at_once_are_answered_in_any_order() -> None:
    async def ask_twice(upstream: Upstream, stream: Stream) -> None:
        await stream.say({**QUESTION, "id": "one"})
        await stream.say({**QUESTION, "id": 2})
        await upstream.answer(2)
        await upstream.answer("one")

    async with (
        asking(ask_twice) as (upstream, _, client),
        client.call("tools_add") as stream,
    ):
        first, second = await stream.next(), await stream.next()
        await client.accept(second, "second")
        await upstream.answer(2)
        await client.accept(first, "first")
        assert await stream.text() == "done"

    values = {each["id"]: each["result"]["content"]["value"] for each in upstream.heard}
    assert values == {"one": "first", 2: "second"}


@WHERE
async def test_a_question_that_the_upstream_cancels_is_withdrawn(where: str) -> None:
    asked, withdrawn = asyncio.Event(), asyncio.Event()

    async def change_its_mind(upstream: Upstream, stream: Stream) -> None:
        used = await upstream.beside() if where == "beside" else stream
        await used.say(QUESTION)
        await asked.wait()
        await used.say(CANCELLATION)
        await withdrawn.wait()

    async with (
        asking(change_its_mind) as (upstream, _, client),
        client.call("tools_add") as stream,
    ):
        question = await stream.next()
        asked.set()
        cancelled = await stream.next()
        await client.accept(question, "too late")
        withdrawn.set()
        assert await stream.text() == "done"

    assert cancelled["method"] == "notifications/cancelled"
    assert cancelled["params"] == {"requestId": question["id"]}
    assert upstream.heard == []


async def test_an_answer_to_the_call_ends_its_questions() -> None:
    asked = asyncio.Event()

    async def give_up(_: Upstream, stream: Stream) -> None:
        await stream.say(QUESTION)
        await asked.wait()

    async with (
        asking(give_up) as (_, stage, client),
        client.call("tools_add") as stream,
    ):
        question = await stream.next()
        asked.set()
        cancelled = await stream.next()
        assert await stream.text() == "done"

    assert cancelled["params"] == {"requestId": question["id"]}
    assert [each.outcome for each in stage.gate.ended] == [Outcome.OK]


async def test_a_client_that_cancels_its_call_ends_its_questions() -> None:
    async with asking(ask) as (upstream, _, client), client.call("tools_add") as stream:
        await stream.next()
        message = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        await client.say(message, client.http)
        with pytest.raises(AssertionError, match="has ended"):
            await stream.next()
        await until(lambda: upstream.heard)

    assert [each.get("method") for each in upstream.heard] == [
        "notifications/cancelled"
    ]


@pytest.mark.parametrize(
    "said",
    [
        {**QUESTION, "method": "sampling/createMessage"},
        {**QUESTION, "method": "x/unknown"},
        {**QUESTION, "id": None},
        {**QUESTION, "id": True},
        {**QUESTION, "id": []},
    ],
)
async def test_what_the_client_can_not_be_asked_ends_the_call(
    said: dict[str, Any],
) -> None:
    async def ask_that(_: Upstream, stream: Stream) -> None:
        await stream.say(said)
        await asyncio.Event().wait()

    async with (
        asking(ask_that) as (_, _, client),
        client.call("tools_add") as stream,
    ):
        assert await stream.text() == WANTS_INPUT


async def test_a_call_asks_so_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relayed_questions, "REQUESTS_MAX", 2)

    async def ask_on(upstream: Upstream, stream: Stream) -> None:
        for number in range(3):
            await stream.say({**QUESTION, "id": number})
            await upstream.answer(number)

    async with asking(ask_on) as (_, _, client), client.call("tools_add") as stream:
        for _ in range(2):
            await client.accept(await stream.next(), "Ada")
        assert await stream.text() == WANTS_INPUT


async def test_an_answer_that_is_refused_has_no_call_sent_again() -> None:
    async with asking(ask) as (upstream, stage, client):
        upstream.status = 404
        async with client.call("tools_add") as stream:
            await client.accept(await stream.next(), "Ada")
            assert await stream.text() == "done"

    assert upstream.calls == 1
    assert [each.outcome for each in stage.gate.ended] == [Outcome.OK]


async def test_beside_two_calls_of_one_session_nobody_is_asked() -> None:
    both = asyncio.Event()

    async def ask_beside(upstream: Upstream, _: Stream) -> None:
        if upstream.calls == 2:
            both.set()
        await both.wait()
        if not upstream.heard:
            await (await upstream.beside()).say(QUESTION)
        await upstream.answer()

    async with asking(ask_beside) as (upstream, _, client):

        async def called() -> str:
            async with client.call("tools_add") as stream:
                return await stream.text()

        assert await asyncio.gather(called(), called()) == ["done", "done"]

    assert {each["error"]["code"] for each in upstream.heard} == {-32601}


@WHERE
async def test_a_credential_in_a_question_is_removed(where: str) -> None:
    secret = "a-credential-of-the-upstream"

    async def tell(upstream: Upstream, stream: Stream) -> None:
        used = await upstream.beside() if where == "beside" else stream
        await used.say({**QUESTION, "params": {"message": f"is it {secret}?"}})
        await upstream.answer()

    async with asking(tell) as (_, stage, client):
        (made,) = stage.gate.upstreams.values()
        stage.gate.change(made, credential=credential(secret))
        async with client.call("tools_add") as stream:
            question = await stream.next()
            await client.accept(question, "Ada")
            assert await stream.text() == "done"
        await until(lambda: stage.returned)

    assert question["params"]["message"] == f"is it {REMOVED}?"


async def test_a_server_may_ask_before_its_answer_begins() -> None:
    async with asking(ask) as (upstream, _, client):
        upstream.begins_late = True
        async with client.call("tools_add") as stream:
            await client.accept(await stream.next(), "Ada")
            assert await stream.text() == "done"
