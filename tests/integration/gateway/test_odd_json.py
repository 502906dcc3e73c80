"""JSON of upstreams that parsers read differently."""

import json
from typing import Any

import pytest
from aiohttp import web

from service.gateway.gate import Outcome
from service.gateway.upstream.errors import DUPLICATE_KEY
from tests.integration.gateway.plain_upstream import plain_upstream
from tests.integration.gateway.stage import forwarding, opened
from tests.integration.gateway.test_hostile_upstreams import body_of, events

TEXT = b'{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"%b"}]}}'
VALUE = b'{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":%b}}'


@pytest.mark.parametrize(
    ("text", "read"),
    [
        (b"\\ud83d", "\ufffd"),
        (b"a \\ud83d b", "a \ufffd b"),
        (b"\\uDE00", "\ufffd"),
        (b"\\ude00\\ud83d", "\ufffd\ufffd"),
        (b"\\ud83d\\ud83d\\ude00", "\ufffd\U0001f600"),
        (b"\\\\ud83d \\ud83d", "\\ud83d \ufffd"),
        (b"\xff", "\ufffd"),
        (b"caf\xe9", "caf\ufffd"),
    ],
)
async def test_what_is_no_character_is_replaced(text: bytes, read: str) -> None:
    async with forwarding(body_of(TEXT % text)) as (_, stage):
        got = await stage.call("tools_add")

    assert got.content == read
    assert [each.outcome for each in stage.gate.ended] == [Outcome.OK]


async def test_half_a_pair_in_a_stream_is_replaced() -> None:
    log = (
        b'{"jsonrpc":"2.0","method":"notifications/message",'
        b'"params":{"level":"info","data":"\\ud83d"}}'
    )
    async with forwarding(events(log)) as (_, stage):
        got = await stage.call("tools_add")

    assert got.content == "hello"


@pytest.mark.parametrize(
    "log",
    [
        b'{"level":"info","data":1,"data":2}',
        b'{"level":"info","data":18446744073709551616}',
        b'{"level":"info","data":{"a":1,"a":"\\ud83d"}}',
    ],
)
async def test_an_odd_notification_costs_no_answer(log: bytes) -> None:
    told = b'{"jsonrpc":"2.0","method":"notifications/message","params":%b}' % log
    async with forwarding(events(told)) as (_, stage):
        got = await stage.call("tools_add")

    assert got.content == "hello"


async def test_json_may_begin_with_a_byte_order_mark() -> None:
    async with forwarding(body_of(b"\xef\xbb\xbf" + TEXT % b"x")) as (_, stage):
        assert (await stage.call("tools_add")).content == "x"


async def test_a_tool_with_half_a_pair_in_its_description_is_listed() -> None:
    async def answer(_request: web.Request, body: Any) -> web.StreamResponse:
        tool = {"name": "add", "description": "\ud83d", "inputSchema": {}}
        other = {"name": "sub", "inputSchema": {}}
        told = {"jsonrpc": "2.0", "id": body["id"], "result": {"tools": [tool, other]}}
        return web.Response(text=json.dumps(told), content_type="application/json")

    async with plain_upstream(answer) as upstream, opened() as stage:
        stage.gate.connect(upstream.url)
        await stage.observer.step()
        await stage.observer.settled()

    assert [names for _, names in stage.gate.observations] == [["add", "sub"]]


NUMBERS = [
    b"123456789012345678901234567890",
    b"18446744073709551616",
    b"-9223372036854775809",
    b"18446744073709551615",
    b"-9223372036854775808",
    b"1" * 300,
    b"[1,18446744073709551616,-1]",
    b'{"a":{"b":[123456789012345678901234567890]}}',
    b"0.1",
    b"1700000000000000000",
]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("space", [b"", b" "])
async def test_integers_are_passed_on_as_they_are(number: bytes, space: bytes) -> None:
    sent = VALUE.replace(b'"content":', b'"content":' + space) % number
    async with forwarding(body_of(sent)) as (_, stage):
        got = await stage.call("tools_add")

    value = json.loads(got.text)["result"]["structuredContent"]
    assert json.dumps(value, separators=(",", ":")) == number.decode()


async def test_a_long_number_beside_half_a_pair_is_kept() -> None:
    sent = VALUE % b'{"a":"\\ud83d","b":18446744073709551616}'
    async with forwarding(body_of(sent)) as (_, stage):
        got = await stage.call("tools_add")

    value = json.loads(got.text)["result"]["structuredContent"]
    assert value == {"a": "\ufffd", "b": 18446744073709551616}


async def test_an_integer_is_in_the_text_of_structured_content_as_it_is() -> None:
    sent = (VALUE % b'{"a":18446744073709551616}').replace(b'"content":[],', b"")
    async with forwarding(body_of(sent)) as (_, stage):
        got = await stage.call("tools_add")

    assert got.content == '{"a":18446744073709551616}'


@pytest.mark.parametrize(
    "value",
    [
        b'{"a":1,"a":2}',
        b'{"a": 1, "a": 2}',
        b'{"a" : 1, "a" : 2}',
        b'{"a":1,"\\u0061":1}',
        b'[[{"b":{"a":1,"c":0,"a":1}}]]',
    ],
)
async def test_an_answer_with_a_key_twice_is_refused(value: bytes) -> None:
    async with forwarding(body_of(VALUE % value)) as (_, stage):
        got = await stage.call("tools_add")

    assert got.content == DUPLICATE_KEY
    assert [each.outcome for each in stage.gate.ended] == [Outcome.UPSTREAM_ERROR]


@pytest.mark.parametrize(
    "value",
    [
        b'{"a" : 1, "b":{"a":1}}',
        b'{"a":"\\"b\\":1 123456789012345678901234567890","b":2}',
        b'{"a":0.12345678901234567890123}',
        b'{"a":"\\u0022:"}',
    ],
)
async def test_what_only_looks_like_that_is_passed_on(value: bytes) -> None:
    async with forwarding(body_of(VALUE % value)) as (_, stage):
        got = await stage.call("tools_add")

    assert json.loads(got.text)["result"]["structuredContent"] == json.loads(value)
