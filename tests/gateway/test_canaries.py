"""No argument, result or credential of a call in any file of the service.

A real process, calls of every outcome, and every byte that is left of them.
"""

import json
import secrets
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.gateway.plain_upstream import answered, plain_upstream
from tests.gateway.served import (
    GATEWAY_OPTIONS,
    Api,
    Setting,
    is_answered,
    is_refused,
    new_session,
    new_setting,
)
from tests.harness.service import running, serving
from tests.secrets.test_leaks import (
    encodings,
    files_in,
    found,
    in_encoding,
    new_mark,
    pg_dump,
    plant,
)
from tests.waiting import until

OUTCOMES = {
    "fine": "ok",
    "refusing": "tool_error",
    "streaming": "ok",
    "broken": "upstream_error",
    "huge": "too_large",
    "nonsense": "upstream_error",
}
ASKED, DENIED = "asked", "denied"
ANSWER_BYTES_MAX = 8 * 2**20


@pytest.mark.slow
@pytest.mark.processes
async def test_arguments_results_and_credentials_are_in_no_file(tmp_path: Path) -> None:
    mark, planted = new_mark(), new_mark()
    data_dir, log = tmp_path / "data", tmp_path / "log"
    options = ("--data-dir", str(data_dir), "--log-level", "debug", *GATEWAY_OPTIONS)
    credentials = set()

    async def answer(request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        credentials.add(request.headers.get("Authorization"))
        text = [{"type": "text", "text": f"{mark} a result {mark}"}]
        match body["params"]["name"]:
            case "refusing":
                return answered(body, {"content": text, "isError": True})
            case "streaming":
                return await streamed(request, body, f"{mark} a message", text)
            case "broken":
                return web.Response(status=500, text=f"{mark} a trace {mark}")
            case "nonsense":
                return web.Response(text=f"{mark} {{ {mark}", content_type="text/plain")
            case "huge":
                text[0]["text"] += f" {mark}" * (ANSWER_BYTES_MAX // len(mark))
        return answered(body, {"content": text})

    tools = (*OUTCOMES, ASKED, DENIED)
    with running(serving(*options, log=log)) as service:
        async with new_session() as http, plain_upstream(answer, tools=tools) as server:
            admin = Api(http, service.url, service.admin_token)
            setting = await new_setting(admin, server.url, *tools)
            value = f"{mark} a credential {secrets.token_hex(4)} {mark}"
            await admin.do("POST", "/api/secrets", {"name": "TOKEN", "value": value})
            attached = {"whose": "owner", "secret_name": "TOKEN"}
            path = f"{setting.connector_path}/credential"
            await admin.do("PUT", path, attached)
            await setting.rule(any="allow", asked="ask", denied="deny")
            await call_all(setting, f"{mark} an argument {mark}")
            await until(lambda: all_recorded(admin), timeout_s=300)
            # Something of the same kind that is meant to be found.
            for name in encodings(planted):
                plant(data_dir, in_encoding(f"x {planted} x", name))
            headers = {"X-Request-Id": planted}
            async with http.get(f"{service.url}/metrics", headers=headers) as response:
                metrics = await response.read()
            dump = pg_dump(data_dir)

    assert any(each and mark in each for each in credentials)
    places = {
        "dump of the database": [dump],
        "data folder, with the write-ahead log": list(files_in(data_dir)),
        "logs": [log.read_bytes()],
        "metrics": [metrics],
    }
    assert b"gateway" in metrics
    assert found(mark, places) == set()
    assert found(planted, places) >= {
        *(("dump of the database", name) for name in encodings(planted)),
        *(
            ("data folder, with the write-ahead log", name)
            for name in encodings(planted)
        ),
        ("logs", "as it is"),
    }


async def streamed(
    request: web.Request, body: dict[str, Any], message: str, content: Any
) -> web.StreamResponse:
    """Report something, and then answer, in a stream of events."""
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream"})
    await response.prepare(request)
    params = {"level": "error", "data": message}
    for each in (
        {"jsonrpc": "2.0", "method": "notifications/message", "params": params},
        {"jsonrpc": "2.0", "id": body["id"], "result": {"content": content}},
    ):
        await response.write(b"data: " + json.dumps(each).encode() + b"\n\n")
    return response


async def call_all(setting: Setting, argument: str) -> None:
    arguments = {"text": argument, argument: {"list": [argument]}}
    for mode in ("strict", "batched"):
        path = f"{setting.connector_path}/gateway"
        await setting.manager.do("PUT", path, {"slug": "upstream", "record_mode": mode})
        for name, outcome in OUTCOMES.items():
            answer = await setting.agent.call(name, arguments)
            assert is_answered(answer) == (outcome == "ok"), answer
        assert is_refused(await setting.agent.call(DENIED, arguments))
        assert is_refused(await setting.agent.call(argument[:60], arguments))
        assert not is_answered(await setting.agent.call(ASKED, arguments))
        approval_id = await until(lambda: pending(setting), timeout_s=300)
        path = f"{setting.agent_path}/approvals/{approval_id}"
        shown = await setting.manager.do("GET", path)
        assert argument in str(shown.data["arguments"])
        await setting.manager.do("POST", f"{path}/approve", {})
        assert is_answered(await setting.agent.call(ASKED, arguments))
    # One more is left open, with its arguments sealed.
    await setting.agent.call(ASKED, {**arguments, "n": 2})


async def pending(setting: Setting) -> str | None:
    path = "/api/mcp/approvals?state=pending"
    found = (await setting.manager.do("GET", path)).data["approvals"]
    return found[0]["id"] if found else None


async def all_recorded(admin: Api) -> bool:
    """Say whether calls of every outcome are on record."""
    calls = (await admin.do("GET", "/api/mcp/calls?limit=100")).data["calls"]
    return {*OUTCOMES.values()} <= {each.get("outcome") for each in calls}
