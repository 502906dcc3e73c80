"""Servers that are odd in one way each: definitions, answers, lists and sessions.

Each has a tool that is odd, or answers oddly, and one that isn't.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
from aiohttp import web

from service.gateway.protocol.revisions import (
    REVISION_HEADER,
    SESSION_HEADER,
    STATELESS,
)

OBJECT: Final[Mapping[str, Any]] = {"type": "object"}
STRING: Final[Mapping[str, Any]] = {"type": "string"}
HELLO: Final = {"content": [{"type": "text", "text": "hello"}]}
ODD, PLAIN = "odd", "plain"


@dataclass(frozen=True)
class Odd:
    """``document`` are members of the odd tool's definition, ``result`` its answer.

    ``listed`` are members of its list. ``probed`` is what a server with a handshake
    answers to ``server/discover``: status, content type and body. ``streamed`` is the
    event stream in which it answers a call, with ANSWER in it. ``is_refused``: the
    gateway doesn't offer the tool, though some clients would call it directly.
    """

    name: str
    document: Mapping[str, Any] = field(default_factory=dict)
    result: Any = field(default_factory=lambda: HELLO)
    listed: Mapping[str, Any] = field(default_factory=dict)
    probed: tuple[int, str, bytes] = (400, "text/plain", b"Bad Request")
    streamed: bytes | None = None
    is_refused: bool = False


def of(**properties: Any) -> dict[str, Any]:
    return {**OBJECT, "properties": properties}


def _named(kind: str, **shared: Any) -> Callable[..., Iterator[Odd]]:
    def named(*values: Any) -> Iterator[Odd]:
        for value in values:
            shown = orjson.dumps(value, default=str).decode()[:60]
            yield Odd(name=f"{kind} {shown}", document={kind: value}, **shared)

    return named


def _definitions() -> Iterator[Odd]:
    yield from _named("description")(None, 7, ["a"], {}, 1.5)
    yield from _named("title")(None, 7, [], {"en": "Odd"})
    yield from _named("annotations")(
        None,
        [],
        "readOnly",
        {"readOnlyHint": None},
        {"readOnlyHint": "yes"},
        {"destructiveHint": 1},
        {"title": None},
        {"idempotentHint": {}, "openWorldHint": True},
        {"other": "hint"},
    )
    yield from _named("execution")(
        None, "x", [], {"taskSupport": None}, {"taskSupport": "maybe"}, {"other": 1}
    )
    yield from _named("icons")(None, "icon.png", [{"src": 1}], [None])
    yield from _named("_meta")(None, "x", [])
    yield from _named("other")(None, {"a": 1})
    yield from _named("outputSchema")(
        None,
        "object",
        [],
        {},
        1,
        {"type": ["null", "array"]},
        {"type": "array", "items": {"type": "string"}},
        {"type": "string"},
        {"type": None},
        {"type": ["object"]},
        {"type": "OBJECT"},
        {"anyOf": [OBJECT, {"type": "array"}]},
        {"$ref": "#/$defs/it", "$defs": {"it": OBJECT}},
        {**OBJECT, "properties": []},
        {**OBJECT, "properties": None},
        {**OBJECT, "required": "a"},
        {**OBJECT, "required": None},
        {**OBJECT, "$id": "https://schemas.example/same"},
        {**OBJECT, "$schema": "http://json-schema.org/draft-04/schema#"},
        {**OBJECT, "$schema": "https://schemas.example/unknown"},
        {**OBJECT, "$async": True},
        of(a=True),
        of(a="string"),
        of(a={"$ref": "#/$defs/gone"}),
        of(a={"$ref": "https://schemas.example/gone.json"}),
        of(a={"$id": "https://schemas.example/same", **STRING}),
        of(a={"pattern": "["}),
        of(a={"pattern": r"\_"}),
        of(a={"pattern": "(?P<a>b)"}),
        of(a={"pattern": "(?i)b"}),
        of(a={"type": "strin"}),
        of(a={"enum": []}),
        of(a={"nullable": True}),
        of(a={"format": "of-our-own"}),
        of(a={"items": [STRING], "additionalItems": False}),
        of(a={"minimum": 1, "exclusiveMinimum": True}),
        of(a={"$anchor": "x"}, b={"$anchor": "x"}),
    )


def _inputs() -> Iterator[Odd]:
    yield from _named("inputSchema", is_refused=True)(
        None,
        "object",
        [],
        {},
        {"type": "array"},
        {"type": ["object", "null"]},
        {"anyOf": [OBJECT]},
        {**OBJECT, "properties": []},
        {**OBJECT, "properties": None},
        {**OBJECT, "required": "a"},
        {**OBJECT, "required": None},
        {**OBJECT, "additionalProperties": "no"},
        of(a="string"),
        of(a=None),
        of(a={"type": "strin"}),
        of(a={"type": None}),
        of(a={"enum": "red"}),
        of(a={"minLength": "1"}),
        of(a={"anyOf": []}),
        of(a={"$ref": "#/$defs/gone"}),
        of(a={"$ref": "https://schemas.example/gone.json"}),
    )
    yield from _named("inputSchema")(
        {**OBJECT, "$schema": "http://json-schema.org/draft-07/schema#"},
        {**OBJECT, "$schema": "https://schemas.example/unknown"},
        {**OBJECT, "$id": "https://schemas.example/input"},
        of(a=True, b=False),
        of(a={"items": [STRING, STRING]}),
        of(a={"minimum": 1, "exclusiveMinimum": True}),
        of(a={"pattern": "["}),
        of(a={"$ref": "#/$defs/it"}) | {"$defs": {"it": {"$ref": "#"}}},
        of(a={"enum": [None, 1, "a"]}),
        of(a={"const": None, "default": None}),
    )


def _results() -> Iterator[Odd]:
    text = {"type": "text", "text": "x"}
    array, structured = {"type": "array"}, {"structuredContent": ["a"]}
    for name, schema, result in (
        ("an array", array, {"content": [text], **structured}),
        ("an array alone", array, {"content": [], **structured}),
        ("a text", STRING, {"content": [text], "structuredContent": "a"}),
        ("a number", {"type": "number"}, {"content": [], "structuredContent": 7}),
        ("null", {}, {"content": [text], "structuredContent": None}),
        ("an object", OBJECT, {"content": [text], "structuredContent": {"a": 1}}),
    ):
        yield Odd(f"structured {name}", {"outputSchema": schema}, result)
    results: Sequence[Mapping[str, Any]] = (
        {"content": [text], **structured},
        {"content": [text], "structuredContent": 7},
        {"content": [text], "isError": None},
        {"content": [text], "isError": True},
        {"content": []},
        {"content": [{**text, "annotations": {"audience": ["user"]}}]},
        {"content": [{**text, "_meta": {"a": 1}}], "_meta": {"b": [1]}},
        {"content": [{**text, "other": 1}], "other": [None]},
        {"content": [{"type": "image", "data": "aGk=", "mimeType": "image/png"}]},
        {"content": [{"type": "audio", "data": "aGk=", "mimeType": "audio/wav"}]},
        {"content": [{"type": "resource_link", "uri": "file:///a", "name": "a"}]},
        {
            "content": [
                {"type": "resource", "resource": {"uri": "file:///a", "text": "a"}}
            ]
        },
        {"content": [{"type": "unknown", "a": 1}]},
        {"content": [{"type": "text", "text": "\u2028\u0000\U0001f600"}]},
        {"content": [{"type": "text", "text": "x" * 300_000}]},
        {"content": [text] * 500},
        {"structuredContent": {"a": 1}},
        {"content": None, "structuredContent": {"a": 1}},
    )
    for number, each in enumerate(results):
        yield Odd(f"result {number}", result=each)


def _lists() -> Iterator[Odd]:
    for cursor in ("", None):
        yield Odd(f"cursor {cursor!r}", listed={"nextCursor": cursor})
    for member, value in (("ttlMs", -1), ("ttlMs", "x"), ("_meta", {"a": 1})):
        yield Odd(f"list with {member} {value}", listed={member: value})


def _probes() -> Iterator[Odd]:
    error = b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}'
    for status, kind, body in (
        (500, "text/plain", b"Internal Server Error"),
        (503, "text/html", b"<html>"),
        (200, "text/html", b"<html>"),
        (200, "application/json", b""),
        (200, "application/json", b"{}"),
        (200, "application/json", error),
        (400, "application/json", error),
        (404, "application/json", error),
        (200, "text/event-stream", b"data: " + error + b"\n\n"),
        (200, "text/event-stream", b""),
        (202, "text/plain", b""),
        (204, "text/plain", b""),
        (405, "text/plain", b""),
        (422, "application/json", b"[]"),
    ):
        shown = body.decode()[:30]
        yield Odd(f"discover {status} {kind} {shown}", probed=(status, kind, body))


def _streams() -> Iterator[Odd]:
    log = (
        b'data: {"jsonrpc":"2.0","method":"notifications/message",'
        b'"params":{"level":"info","data":"x"}}\n\n'
    )
    ping = b'data: {"jsonrpc":"2.0","id":"p","method":"ping"}\n\n'
    for stream in (
        b"event: message\ndata: ANSWER\n\n",
        b"data: ANSWER\n\n",
        b"data:ANSWER\n\n",
        b"data: ANSWER\r\n\r\n",
        b"data: ANSWER\r\r",
        b"event:\ndata: ANSWER\n\n",
        b"event: \ndata: ANSWER\n\n",
        b"\xef\xbb\xbfdata: ANSWER\n\n",
        b": comment\n\nretry: 10\n\ndata: ANSWER\n\n",
        b"id: 1\ndata: ANSWER\n\n",
        b"id: 0\ndata:\n\ndata: ANSWER\n\n",
        b"other: x\ndata: ANSWER\n\n",
        b"event: other\ndata: x\n\ndata: ANSWER\n\n",
        log + b"data: ANSWER\n\n",
        ping + b"data: ANSWER\n\n",
        ping + log + ping + b"data: ANSWER\n\n",
    ):
        yield Odd(f"stream {stream[-60:]!r}", streamed=stream)


ODDITIES: Final[Sequence[Odd]] = [
    *_definitions(),
    *_inputs(),
    *_results(),
    *_lists(),
    *_probes(),
    *_streams(),
]


def odd_servers(*, is_stateless: bool) -> web.Application:
    """Serve each oddity at /NUMBER; all speak one era only."""

    async def answer(request: web.Request) -> web.StreamResponse:
        odd = ODDITIES[int(request.match_info["number"])]
        message = await request.json()
        if "id" not in message:
            return web.Response(status=202)
        revision = request.headers.get(REVISION_HEADER)
        if not is_stateless and revision == STATELESS:
            status, kind, body = odd.probed
            return web.Response(status=status, content_type=kind, body=body)
        result = _result(odd, message)
        if result is None or (is_stateless and message["method"] == "initialize"):
            return _answered(message, error={"code": -32601, "message": "unknown"})
        if is_stateless:
            result = {"resultType": "complete", **result}
        response = _answered(message, result=result)
        if odd.streamed and message["method"] == "tools/call":
            stream = odd.streamed.replace(b"ANSWER", _json(message, result=result))
            return web.Response(body=stream, content_type="text/event-stream")
        if message["method"] == "initialize":
            response.headers[SESSION_HEADER] = "one"
        return response

    async def no_stream(_request: web.Request) -> web.Response:
        return web.Response(status=405)

    app = web.Application()
    app.router.add_post("/{number}", answer)
    app.router.add_get("/{number}", no_stream)
    app.router.add_delete("/{number}", no_stream)
    return app


def _answered(message: Mapping[str, Any], **outcome: Any) -> web.Response:
    return web.Response(body=_json(message, **outcome), content_type="application/json")


def _json(message: Mapping[str, Any], **outcome: Any) -> bytes:
    return orjson.dumps({"jsonrpc": "2.0", "id": message["id"], **outcome})


def _result(odd: Odd, message: Mapping[str, Any]) -> dict[str, Any] | None:
    match message["method"]:
        case "server/discover":
            return {
                "supportedVersions": [STATELESS],
                "capabilities": {"tools": {}},
                "ttlMs": 1000,
                "cacheScope": "private",
            }
        case "initialize":
            return {
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "odd", "version": "1"},
            }
        case "tools/list":
            tools = [
                {"name": ODD, "inputSchema": OBJECT, **odd.document},
                {"name": PLAIN, "inputSchema": OBJECT},
            ]
            return {
                "tools": tools,
                "ttlMs": 60_000,
                "cacheScope": "private",
                **odd.listed,
            }
        case "tools/call":
            is_odd = message["params"]["name"] == ODD
            return {**(odd.result if is_odd else HELLO)}
    return None
