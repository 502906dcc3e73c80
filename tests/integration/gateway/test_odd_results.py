"""Results of tools that aren't quite as the protocol says, which clients can read."""

from typing import Any

import pytest
from aiohttp import web

from service.gateway.gate import Outcome
from service.gateway.upstream.errors import NO_RESULT, TOO_LARGE
from tests.integration.gateway.plain_upstream import answered
from tests.integration.gateway.stage import forwarding
from tests.integration.gateway.test_hostile_upstreams import body_of, result

READABLE: dict[str, tuple[dict[str, Any], list[str]]] = {
    "structured content alone": ({"structuredContent": {"a": 1}}, ['{"a":1}']),
    "with null": ({"structuredContent": {"a": 1}, "content": None}, ['{"a":1}']),
    "of the first revision": ({"toolResult": {"a": [1]}}, ['{"a":[1]}']),
    "of the first revision, a text": ({"toolResult": "done"}, ["done"]),
    "of an error": ({"structuredContent": {}, "isError": True}, ["{}"]),
    "other fields null": (
        {"content": [], "isError": None, "resultType": None, "_meta": None},
        [],
    ),
}


@pytest.mark.parametrize("name", READABLE)
async def test_a_result_without_content_gets_it(name: str) -> None:
    given, texts = READABLE[name]
    async with forwarding(result(given)) as (_, stage):
        got = await stage.call("tools_add")

    answer = got.body["result"]
    assert [each["text"] for each in answer["content"]] == texts
    assert answer["resultType"] == "complete"
    kept = {key: value for key, value in given.items() if value is not None}
    assert {key: answer[key] for key in kept} == kept
    assert answer.get("isError", False) is (given.get("isError") is True)
    is_error = given.get("isError") is True
    expected = Outcome.TOOL_ERROR if is_error else Outcome.OK
    assert [each.outcome for each in stage.gate.ended] == [expected]


@pytest.mark.parametrize("content", ["text", {"type": "text"}, 0, False, None])
async def test_content_of_another_kind_is_not_passed_on(content: Any) -> None:
    async with forwarding(result({"content": content})) as (_, stage):
        assert (await stage.call("tools_add")).content == NO_RESULT


async def test_an_error_that_is_null_is_none() -> None:
    answer = b'{"jsonrpc":"2.0","id":ID,"error":null,"result":{"content":[]}}'
    async with forwarding(body_of(answer)) as (_, stage):
        got = await stage.call("tools_add")

    assert got.body["result"]["content"] == []


async def test_an_answer_with_too_large_a_head_is_too_large() -> None:
    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        got = answered(body, {"content": []})
        got.headers.update({f"X-{number}": "x" * 4000 for number in range(20)})
        return got

    async with forwarding(answer) as (_, stage):
        got = await stage.call("tools_add")

    assert got.content == TOO_LARGE
    assert [each.outcome for each in stage.gate.ended] == [Outcome.TOO_LARGE]
