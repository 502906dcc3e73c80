"""Upstreams that send back the credential that they were sent."""

import base64
import json
import logging
import urllib.parse
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import orjson
import pytest
from aiohttp import web
from prometheus_client import REGISTRY

from service.gateway.gate import Outcome
from service.gateway.protocol.revisions import CAPABILITIES_KEY, LOG_LEVEL_KEY
from service.gateway.upstream.credential_echo import REMOVED
from service.gateway.upstream.errors import CREDENTIAL_RETURNED
from tests.integration.gateway.plain_upstream import (
    answered,
    streamed,
)
from tests.integration.gateway.returning import (
    credential,
    lent,
    new_value,
    received,
    reflecting,
    text_of,
)
from tests.support.waiting import until

COUNTER = "agent_runtime_gateway_credentials_returned_total"
CALL = {"name": "tools_add", "arguments": {}}
# What an upstream makes of the header that it got.
Spelling = Callable[[str], str]


RESULTS: dict[str, Callable[[str], Any]] = {
    "a text": lambda got: text_of(f"you sent {got}!"),
    "the headers as JSON": lambda got: text_of(json.dumps({"Authorization": got})),
    "the secret alone": lambda got: text_of(f"token={got.split()[1]}"),
    "a URL": lambda got: text_of(f"/?token={urllib.parse.quote(got, safe='')}&a=b"),
    "base64": lambda got: text_of(base64.b64encode(f"?{got}".encode()).decode()),
    "hex": lambda got: text_of(got.encode().hex()),
    "structured content": lambda got: {
        **text_of("see there"),
        "structuredContent": {"request": {"headers": [["Authorization", got]]}},
    },
    "a key": lambda got: {**text_of("ok"), "structuredContent": {got: {got: 1}}},
    "metadata": lambda got: {**text_of("ok"), "_meta": {"example.com/sent": got}},
    "an embedded file": lambda got: {
        "content": [
            {
                "type": "resource",
                "resource": {
                    "uri": f"file:///log?{urllib.parse.quote_plus(got)}",
                    "blob": base64.encodebytes(f"{'-' * 40}{got}".encode()).decode(),
                },
            }
        ]
    },
    "a tool's error": lambda got: {**text_of(f"401: {got}"), "isError": True},
}


@pytest.mark.parametrize("name", RESULTS)
@pytest.mark.parametrize("is_stream", [False, True])
async def test_an_answer_reaches_the_agent_without_the_credential(
    name: str,
    is_stream: bool,  # noqa: FBT001
) -> None:
    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        made = answered(body, RESULTS[name](received(request)))
        if not is_stream:
            return made
        assert isinstance(made.body, bytes)
        return await streamed(request, made.body)

    before = REGISTRY.get_sample_value(COUNTER) or 0
    async with lent(answer) as each:
        got = await each.stage.call("tools_add")
        await until(lambda: each.stage.returned)

    each.assert_clean(got.text)
    assert REMOVED in got.text
    assert got.body["result"].get("isError", False) == (name == "a tool's error")
    (noted,) = each.stage.returned
    assert (noted.url, noted.answers) == (each.upstream.url, 1)
    assert REGISTRY.get_sample_value(COUNTER) == before + 1


async def test_notifications_reach_the_agent_without_the_credential() -> None:
    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        got, token = received(request), body["params"]["_meta"]["progressToken"]
        told = [
            ("progress", {"progressToken": token, "progress": 1, "message": got}),
            ("message", {"level": "error", "logger": got, "data": {got: [got]}}),
            ("message", {"level": "error", "data": got.split()[1]}),
        ]
        messages = [
            {"jsonrpc": "2.0", "method": f"notifications/{method}", "params": params}
            for method, params in told
        ]
        last = answered(body, text_of("done")).body
        assert isinstance(last, bytes)
        return await streamed(request, *map(orjson.dumps, messages), last)

    async with lent(answer) as each:
        meta = {"progressToken": "p", LOG_LEVEL_KEY: "debug"}
        got = await each.stage.ask("tools/call", {**CALL, "_meta": meta})
        await until(lambda: each.stage.returned)

    each.assert_clean(got.text)
    events = [
        orjson.loads(line.removeprefix("data: "))
        for line in got.text.splitlines()
        if line.startswith("data: ")
    ]
    assert [event.get("params") for event in events] == [
        {"progressToken": "p", "progress": 1, "message": REMOVED},
        {"level": "error", "logger": REMOVED, "data": {REMOVED: [REMOVED]}},
        {"level": "error", "data": REMOVED},
        None,
    ]
    assert events[-1]["result"]["content"] == text_of("done")["content"]
    assert [noted.answers for noted in each.stage.returned] == [1]


ASKED = {
    "resultType": "input_required",
    "inputRequests": {"a": {"method": "elicitation/create", "params": {}}},
}


async def test_questions_reach_the_agent_without_the_credential() -> None:
    def asks(got: str) -> Any:
        params = {"mode": "url", "message": got, "url": f"https://a.example/?{got}"}
        question = {"method": "elicitation/create", "params": params}
        return {**ASKED, "inputRequests": {"a": question}}

    async with lent(reflecting(asks)) as each:
        got = await each.stage.ask("tools/call", CALL | capable())

    each.assert_clean(got.text)
    params = got.body["result"]["inputRequests"]["a"]["params"]
    assert params["message"] == REMOVED


def capable() -> dict[str, Any]:
    return {"_meta": {CAPABILITIES_KEY: {"elicitation": {"url": {}}}}}


@pytest.mark.parametrize(
    "spelled",
    [str, lambda got: base64.b64encode(json.dumps({"a": got}).encode()).decode()],
)
async def test_a_state_with_the_credential_ends_the_call(spelled: Spelling) -> None:
    def asks(got: str) -> Any:
        return {**ASKED, "requestState": spelled(got)}

    async with lent(reflecting(asks)) as each:
        got = await each.stage.ask("tools/call", CALL | capable())
        await until(lambda: each.stage.gate.ended)

    each.assert_clean(got.text)
    assert got.content == CREDENTIAL_RETURNED
    assert got.body["result"]["isError"] is True
    assert [ended.outcome for ended in each.stage.gate.ended] == [
        Outcome.UPSTREAM_ERROR
    ]
    assert [noted.answers for noted in each.stage.returned] == [1]


async def test_any_header_is_looked_for() -> None:
    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        return answered(body, text_of(f"key {request.headers['X-Api-Key']}"))

    async with lent(answer, "a key of words", "X-Api-Key") as each:
        got = await each.stage.call("tools_add")

    assert got.content == f"key {REMOVED}"


async def test_a_secret_of_digits_reaches_nothing_as_a_number(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)

    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        number = int(received(request).split()[1])
        if len(upstream.requests) == 1:
            return answered(body, {**text_of("ok"), "structuredContent": {"n": number}})
        error = {"code": number, "message": "no"}
        return web.json_response({"jsonrpc": "2.0", "id": body["id"], "error": error})

    async with lent(answer, "Bearer 7331640218") as each:
        upstream = each.upstream
        got = await each.stage.call("tools_add")
        refused = await each.stage.call("tools_add")

    assert got.body["result"]["structuredContent"] == {"n": REMOVED}
    assert "refused" in refused.content
    assert "7331640218" not in repr([vars(record) for record in caplog.records])


async def test_a_content_type_reaches_no_log(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "service")

    async def answer(request: web.Request, _body: Any) -> web.StreamResponse:
        kind = f"text/{received(request).split()[1]}".lower()
        return web.Response(body=b"x", headers={"Content-Type": kind})

    async with lent(answer) as each:
        got = await each.stage.call("tools_add")

    secret = each.value.split()[1].lower()
    assert "not MCP" in got.content
    assert any("another content type" in log.getMessage() for log in caplog.records)
    assert secret not in repr([vars(record) for record in caplog.records])


async def test_an_answer_without_the_credential_stays_the_same() -> None:
    texts = {
        "text": "100% of A&amp;B\\n\\u00e9 é \\/ C:\\x41\n",
        "nested": json.dumps({"a": json.dumps({"b": "c/d\n"})}),
        "long": "x" * 600_000,
    }
    result = {**text_of("ok"), "structuredContent": texts, "_meta": {"a.b/c": texts}}
    bodies = []
    for value in (None, new_value()):

        async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
            return answered(body, result)

        async with lent(answer) as each:
            (made,) = each.stage.gate.upstreams.values()
            lends = credential(value) if value else None
            each.stage.gate.upstreams[made.connector_id] = replace(
                made, credential=lends
            )
            bodies.append((await each.stage.call("tools_add")).text)
            assert each.stage.returned == []

    assert bodies[0] == bodies[1]
