"""What clients send wrongly, and the code and status of each answer."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from service.gateway.protocol.revisions import CAPABILITIES_KEY, REVISION_KEY, STATELESS
from tests.integration.gateway.plain_upstream import PlainUpstream
from tests.integration.gateway.stage import Stage, opened


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    async with opened() as stage:
        stage.gate.connect("http://127.0.0.1:9/mcp", "add")
        yield stage


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", -32700),
        (b'{"a": "\\ud800"}', -32700),
        (b"[]", -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', -32600),
        (b'{"jsonrpc": "1.0", "id": 1, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": []}', -32600),
        (b'{"jsonrpc": "2.0", "id": 1, "id": 2, "method": "ping"}', -32600),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": %s}'
            % (b'{"a":' * 40 + b"1" + b"}" * 40),
            -32600,
        ),
        (
            b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"a": %s}}'
            % (b"9" * 30),
            -32600,
        ),
    ],
)
async def test_a_body_that_is_no_message(stage: Stage, body: bytes, code: int) -> None:
    answer = await stage.post(body)

    assert (answer.status, answer.code) == (400, code)


async def test_an_error_has_the_id_of_its_request(stage: Stage) -> None:
    answer = await stage.post({"jsonrpc": "2.0", "id": "x", "method": 1})

    assert (answer.body["id"], answer.code) == ("x", -32600)


@pytest.mark.parametrize(
    ("method", "status"),
    [("ping", 404), ("initialize", 404), ("prompts/list", 404), ("tools/list", 200)],
)
async def test_methods_of_the_stateless_revision(
    stage: Stage, method: str, status: int
) -> None:
    answer = await stage.ask(method)

    assert answer.status == status
    assert answer.body["id"] == 7
    assert status == 200 or answer.code == -32601


@pytest.mark.parametrize(
    ("method", "code"),
    [("ping", None), ("tools/list", None), ("server/discover", -32601)],
)
async def test_methods_of_revisions_with_a_handshake(
    stage: Stage, method: str, code: int | None
) -> None:
    body = {"jsonrpc": "2.0", "id": 1, "method": method}

    answer = await stage.post(body, MCP_Protocol_Version="2025-11-25")

    assert answer.status == 200
    assert answer.body.get("error", {}).get("code") == code


@pytest.mark.parametrize(
    ("wanted", "agreed"),
    [
        ("2025-03-26", "2025-03-26"),
        ("2025-06-18", "2025-06-18"),
        ("2025-11-25", "2025-11-25"),
        ("2024-11-05", "2025-11-25"),
        ("2026-07-28", "2025-11-25"),
    ],
)
async def test_a_handshake(stage: Stage, wanted: str, agreed: str) -> None:
    params = {"protocolVersion": wanted, "capabilities": {}, "clientInfo": {}}

    answer = await stage.post(
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    )

    assert answer.body["result"]["protocolVersion"] == agreed
    assert answer.headers["Mcp-Session-Id"].isalnum()


@pytest.mark.parametrize(
    "headers",
    [
        {"MCP_Protocol_Version": "2025-11-25"},
        {"Mcp_Method": "tools/call"},
        {"Mcp_Method": "Tools/list"},
    ],
)
async def test_headers_that_differ_from_the_body(
    stage: Stage, headers: dict[str, str]
) -> None:
    answer = await stage.ask("tools/list", **headers)

    assert (answer.status, answer.code, answer.body["id"]) == (400, -32020, 7)


async def test_the_name_is_repeated_in_a_header(stage: Stage) -> None:
    params: dict[str, Any] = {"name": "tools_add"}

    wrong = await stage.ask("tools/call", params, Mcp_Name="tools_sub")
    encoded = await stage.ask("tools/call", params, Mcp_Name="=?base64?dG9vbHNfYWRk?=")
    malformed = await stage.ask("tools/call", params, Mcp_Name="=?base64?dG9vbHNfYWRk")

    assert (wrong.status, wrong.code) == (400, -32020)
    assert encoded.status == 200
    assert malformed.code == -32020


@pytest.mark.parametrize("missing", [REVISION_KEY, CAPABILITIES_KEY])
async def test_a_request_without_its_envelope(stage: Stage, missing: str) -> None:
    meta = {REVISION_KEY: STATELESS, CAPABILITIES_KEY: {}}
    del meta[missing]
    body = {
        "jsonrpc": "2.0",
        "id": 7,
        "method": "tools/list",
        "params": {"_meta": meta},
    }

    answer = await stage.post(
        body, MCP_Protocol_Version=STATELESS, Mcp_Method="tools/list"
    )

    assert (answer.status, answer.code) == (400, -32602)


async def test_unknown_revisions(stage: Stage) -> None:
    meta = {REVISION_KEY: "2031-01-01", CAPABILITIES_KEY: {}}

    asked = await stage.ask(
        "tools/list", {"_meta": meta}, MCP_Protocol_Version="2031-01-01"
    )
    bare = await stage.post(
        {"jsonrpc": "2.0", "id": 1, "method": "ping"}, MCP_Protocol_Version="2019-01-01"
    )

    for answer in (asked, bare):
        assert (answer.status, answer.code) == (400, -32022)
        assert STATELESS in answer.body["error"]["data"]["supported"]


async def test_notifications_are_taken(stage: Stage) -> None:
    answer = await stage.post(
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {}}
    )

    assert (answer.status, answer.text) == (202, "")


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_other_methods_of_http(stage: Stage, method: str) -> None:
    response = await stage.http.request(method, stage.path())

    assert (response.status, response.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer of another"}, 401),
        ({"Accept": "application/json"}, 406),
        ({"Content-Type": "text/plain"}, 415),
        ({"Content-Encoding": "gzip"}, 415),
        ({"Origin": "https://page.example"}, 403),
        ({"Origin": "http://evil.example", "Host": "evil.example"}, 403),
    ],
)
async def test_requests_refused_before_they_are_read(
    stage: Stage, headers: dict[str, str], status: int
) -> None:
    answer = await stage.post(b'{"jsonrpc": "2.0"}', **headers)

    assert answer.status == status
    assert answer.code == status
    assert answer.body["id"] is None
    assert (status == 401) == ("WWW-Authenticate" in answer.headers)


async def test_a_body_that_is_too_large(stage: Stage) -> None:
    answer = await stage.post(b" " * 2_000_000)

    assert (answer.status, answer.code) == (413, 413)


async def test_a_page_of_this_server_on_this_machine_may_call(stage: Stage) -> None:
    host = f"127.0.0.1:{stage.http.port}"

    answer = await stage.ask("tools/list", Origin=f"http://{host}", Host=host)

    assert answer.status == 200


@pytest.mark.parametrize("arguments", [[], "text", 1, False, ""])
async def test_arguments_that_are_no_object(stage: Stage, arguments: Any) -> None:
    params = {"name": "tools_add", "arguments": arguments}

    answer = await stage.ask("tools/call", params)

    assert (answer.status, answer.code) == (400, -32602)
    assert not stage.gate.calls


@pytest.mark.parametrize("name", ["add", "tools_sub", "", {}, 1])
async def test_unknown_tools(stage: Stage, name: Any) -> None:
    params = {"name": name, "arguments": {}}

    answer = await stage.ask("tools/call", params, Mcp_Name=str(name))

    assert answer.status == 400
    assert answer.code in (-32602, -32020)
    assert not stage.gate.calls


async def test_headers_that_repeat_arguments(
    stage: Stage, upstream: PlainUpstream
) -> None:
    schema = {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "page": {
                "type": "object",
                "properties": {"size": {"type": "integer", "x-mcp-header": "Size"}},
            },
        },
    }
    stage.gate.connect(upstream.url, {"name": "find", "inputSchema": schema}, slug="x")
    params = {"name": "x_find", "arguments": {"region": "ö", "page": {"size": 5}}}
    right = {"Mcp_Param_Region": "=?base64?w7Y=?=", "Mcp_Param_Size": "5"}

    missing = await stage.ask("tools/call", params, Mcp_Param_Region="=?base64?w7Y=?=")
    other = await stage.ask("tools/call", params, **{**right, "Mcp_Param_Size": "6"})
    answer = await stage.ask("tools/call", params, **right)

    assert [missing.code, other.code] == [-32020, -32020]
    assert answer.content == "hello"
    ((headers, body),) = upstream.requests
    assert headers["Mcp-Param-Region"] == "=?base64?w7Y=?="
    assert headers["Mcp-Param-Size"] == "5"
    assert (headers["Mcp-Name"], body["params"]["name"]) == ("find", "find")
