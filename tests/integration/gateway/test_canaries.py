"""No argument, result or credential of a call in any file, span or message to Kafka.

A real process and a real broker, calls of every outcome, and every byte that is left of
them.
"""

import asyncio
import base64
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from tests.integration.gateway.plain_upstream import (
    answered,
    plain_upstream,
    streamed,
)
from tests.integration.secrets.test_leaks import (
    encodings,
    files_in,
    found,
    in_encoding,
    new_mark,
    pg_dump,
    plant,
)
from tests.support.gateway.served import (
    GATEWAY_OPTIONS,
    Api,
    Setting,
    is_answered,
    is_refused,
    new_session,
    new_setting,
)
from tests.support.harness.service import running, serving
from tests.support.kafka.fixtures import new_topic
from tests.support.kafka.reading import read_all
from tests.support.otlp_receiver import receiver
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

OUTCOMES = {
    "fine": "ok",
    "refusing": "tool_error",
    "streaming": "ok",
    "reflecting": "ok",
    "broken": "upstream_error",
    "huge": "too_large",
    "nonsense": "upstream_error",
    "breaking_off": "upstream_error",
    "silent": "timeout",
}
# It times out after a minute.
SILENT = "silent"
ASKED, DENIED = "asked", "denied"
DESCRIBED = "described"
ANSWER_BYTES_MAX = 8 * 2**20


@dataclass
class MarkedUpstream:
    """Answers with the mark, as the tool's name says.

    The description of one tool is the credential that was sent.
    """

    mark: str
    tools: Sequence[str]
    credentials: set[str | None] = field(default_factory=set)
    silences: int = 0

    async def handle(
        self, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        if body["method"] != "tools/list":
            return await self.answer(request, body)
        received = request.headers.get("Authorization")
        schema = {"type": "object"}
        tools = [{"name": name, "inputSchema": schema} for name in self.tools]
        tools.append({"name": DESCRIBED, "description": f"Sent {received}"})
        return answered(body, {"tools": tools, "ttlMs": 60_000})

    async def answer(
        self, request: web.Request, body: dict[str, Any]
    ) -> web.StreamResponse:
        received = request.headers.get("Authorization")
        self.credentials.add(received)
        text = [{"type": "text", "text": f"{self.mark} a result {self.mark}"}]
        params = {"level": "error", "data": f"{self.mark} a message"}
        told = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
        message = json.dumps(told).encode()
        result = answered(body, {"content": text}).body
        assert isinstance(result, bytes)
        match body["params"]["name"]:
            case "reflecting":
                encoded = base64.b64encode(str(received).encode()).decode()
                text[0]["text"] = f"{received} {encoded}"
            case "refusing":
                return answered(body, {"content": text, "isError": True})
            case "streaming":
                return await streamed(request, message, result)
            case "breaking_off":
                response = await streamed(request, message)
                await response.write(
                    f"data: {self.mark} the beginning of {self.mark}".encode()
                )
                assert request.transport is not None
                request.transport.abort()
                return response
            case "silent":
                await streamed(request, message)
                self.silences += 1
                await asyncio.Event().wait()
            case "broken":
                return web.Response(status=500, text=f"{self.mark} a trace {self.mark}")
            case "nonsense":
                return web.Response(
                    text=f"{self.mark} {{ {self.mark}", content_type="text/plain"
                )
            case "huge":
                text[0]["text"] += f" {self.mark}" * (
                    ANSWER_BYTES_MAX // len(self.mark)
                )
        return answered(body, {"content": text})


@pytest.mark.kafka
@pytest.mark.timeout(3600)
async def test_arguments_results_and_credentials_are_nowhere(
    tmp_path: Path, bootstrap: str
) -> None:
    mark, planted = new_mark(), new_mark()
    data_dir, log = tmp_path / "data", tmp_path / "log"
    topic = (await new_topic(bootstrap)).topic
    options = ["--data-dir", str(data_dir), "--log-level", "debug", *GATEWAY_OPTIONS]
    options += ["--kafka", bootstrap, "--kafka-topic", topic]
    options += ["--kafka-replication", "1"]
    tools = (*OUTCOMES, ASKED, DENIED)
    upstream = MarkedUpstream(mark, tools)
    async with receiver() as exported:
        options += ["--otlp-endpoint", exported.url]
        with running(serving(*options, log=log)) as service:
            async with (
                new_session() as http,
                plain_upstream(upstream.handle) as server,
            ):
                admin = Api(http, service.url, service.admin_token)
                setting = await new_setting(admin, server.url, *tools)
                value = f"{mark} a credential {secrets.token_hex(4)} {mark}"
                secret = {"name": "TOKEN", "value": value}
                await admin.do("POST", "/api/secrets", secret)
                attached = {"whose": "owner", "secret_name": "TOKEN"}
                path = f"{setting.connector_path}/credential"
                await admin.do("PUT", path, attached)
                await until(lambda: is_withheld(setting), timeout_s=300)
                await setting.rule(any="allow", asked="ask", denied="deny")
                await call_all(setting, upstream, f"{mark} an argument {mark}")
                await until(lambda: all_recorded(admin), timeout_s=300)
                # Something of the same kind that is meant to be found.
                for name in encodings(planted):
                    plant(data_dir, in_encoding(f"x {planted} x", name))
                session = {"baggage": f"session.id={planted}"}
                call = {"name": "fine", "arguments": {}, "_meta": session}
                assert is_answered(await setting.agent.ask("tools/call", call))
                await until(lambda: is_exported(exported.bodies, planted))
                described = {"name": "Upstream", "url": server.url}
                described["description"] = planted
                last = await admin.do("PUT", setting.connector_path, described)
                records = await published(bootstrap, topic, last.position)
                headers = {"X-Request-Id": planted}
                async with http.get(f"{service.url}/metrics", headers=headers) as read:
                    metrics = await read.read()
                dump = pg_dump(data_dir)

    assert any(each and mark in each for each in upstream.credentials)
    places = {
        "dump of the database": [dump],
        "data folder, with the write-ahead log": list(files_in(data_dir)),
        "logs": [log.read_bytes()],
        "metrics": [metrics],
        "spans": exported.bodies,
        "topic": records,
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
        ("spans", "as it is"),
        ("topic", "as it is"),
    }
    # The calls themselves are there, those with a harmed answer too.
    for name in OUTCOMES:
        assert is_exported(exported.bodies, f"tools/call {name}"), name
        assert any(f'"{name}"'.encode() in each for each in records), name


def is_exported(bodies: Sequence[bytes], words: str) -> bool:
    return any(words.encode() in each for each in bodies)


async def published(bootstrap: str, topic: str, position: int) -> list[bytes]:
    """Return every byte of the topic, once it has this position."""
    while True:
        records = await asyncio.to_thread(read_all, bootstrap, topic)
        if any(each.position >= position for each in records):
            return [
                piece
                for each in records
                for piece in (each.key, each.value or b"", *each.headers.values())
            ]
        await asyncio.sleep(0.2)


async def call_all(setting: Setting, upstream: MarkedUpstream, argument: str) -> None:
    arguments = {"text": argument, argument: {"list": [argument]}}
    answered_at_once = {name: each for name, each in OUTCOMES.items() if name != SILENT}
    silent: list[asyncio.Task[tuple[int, Any]]] = []
    for mode in ("strict", "batched"):
        path = f"{setting.connector_path}/gateway"
        await setting.manager.do("PUT", path, {"slug": "upstream", "record_mode": mode})
        if mode == "batched":
            # With a credential, each call would have an event of its own.
            await setting.manager.do("DELETE", f"{setting.connector_path}/credential")
        # Its minute passes while the others are answered, in the other mode, too.
        silent.append(asyncio.create_task(setting.agent.call(SILENT, arguments)))
        await until(lambda: upstream.silences == len(silent), timeout_s=300)
        answers = await asyncio.gather(
            *(setting.agent.call(name, arguments) for name in answered_at_once)
        )
        for answer, outcome in zip(answers, answered_at_once.values(), strict=True):
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
    for answer in await asyncio.gather(*silent):
        assert not is_answered(answer), answer
    # One more is left open, with its arguments sealed.
    await setting.agent.call(ASKED, {**arguments, "n": 2})


async def is_withheld(setting: Setting) -> bool:
    """Say whether the definition with the credential was observed, and refused."""
    path = f"{setting.connector_path}/definitions"
    tools = (await setting.manager.do("GET", path)).data["tools"]
    reasons = {each["tool"]: each["reason"] or "" for each in tools}
    return "credential" in reasons[DESCRIBED]


async def pending(setting: Setting) -> str | None:
    path = "/api/mcp/approvals?state=pending"
    found = (await setting.manager.do("GET", path)).data["approvals"]
    return found[0]["id"] if found else None


async def all_recorded(admin: Api) -> bool:
    """Say whether calls of every outcome are on record."""
    calls = (await admin.do("GET", "/api/mcp/calls?limit=100")).data["calls"]
    return {*OUTCOMES.values()} <= {each.get("outcome") for each in calls}
