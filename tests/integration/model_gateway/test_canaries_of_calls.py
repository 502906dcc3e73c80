"""No prompt, answer or credential of a model call in any file, span or message.

A real process and a real broker, calls of every outcome in each dialect, and every byte
that is left of them.
"""

import asyncio
import secrets
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import aiohttp
import orjson
import pytest

from tests.integration.gateway.test_canaries import is_exported, published
from tests.integration.model_gateway.dialects import DIALECTS, STREAMED, Spoken
from tests.integration.model_gateway.faults import error_event, error_of
from tests.integration.model_gateway.provider import (
    Provider,
    answer,
    provider,
    stream,
)
from tests.integration.model_gateway.recorded import CALLS
from tests.integration.secrets.test_leaks import (
    encodings,
    files_in,
    found,
    in_encoding,
    new_mark,
    pg_dump,
    plant,
)
from tests.support.gateway.served import Api, new_session
from tests.support.harness.service import running, serving
from tests.support.kafka.fixtures import new_topic
from tests.support.model_gateway.asking import (
    CONNECTIONS,
    PRESETS,
    grant_path,
    path,
    preset_body,
    routing_body,
    to_preset,
)
from tests.support.model_gateway.operations import connection, target
from tests.support.otlp_receiver import receiver
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

# What a provider does, and how that is recorded.
OUTCOMES = {
    "whole": "ok",
    "streaming": "ok",
    "broken": "provider_error",
    "no credit": "provider_error",
    "stream error": "provider_error",
    "cut": "cut",
    "closed": "no_answer",
    "not HTTP": "no_answer",
    "reflecting": "no_answer",
}
MODES = ("strict", "batched")


class MarkedProvider:
    """Answers with the mark, as a member of the request says."""

    def __init__(self, mark: str) -> None:
        self._mark = mark
        self.keys: set[str | None] = set()

    async def answer(self, made: Provider, writer: asyncio.StreamWriter) -> None:
        received = made.received[-1]
        key = received.header("x-api-key")
        self.keys.add(key)
        spoken = next(
            each
            for each in STREAMED
            if received.target.partition("?")[0] == each.provider_path
        )
        writer.write(self._sent(spoken, received.json["kind"], key))
        if received.json["kind"] not in ("whole", "streaming"):
            writer.close()

    def _sent(self, spoken: Spoken, kind: str, key: str | None) -> bytes:
        said, mark = f"{self._mark} said {self._mark}", self._mark.encode()
        head = b"X-Provider: %b\r\nX-Request-Id: %b\r\n" % (mark, mark)
        events = [
            each.replace(b"Hello", said.encode()).replace(b"Hel", said.encode())
            for each in spoken.events
        ]
        bodies = {
            "broken": error_of(spoken, "invalid_request_error", said),
            "no credit": error_of(spoken, "billing_error", said),
        }
        failing = error_event(spoken).replace(b"busy", said.encode())
        sent = {
            "whole": answer({**spoken.whole, "said": said}, headers=head),
            "streaming": stream(events),
            "broken": answer(bodies["broken"], "400 Bad Request", head),
            "no credit": answer(bodies["no credit"], "402 Payment Required", head),
            "stream error": stream([failing]),
            "cut": stream(events[:2], b""),
            "closed": b"",
            "not HTTP": said.encode() + b"\r\n\r\n",
            "reflecting": answer({**spoken.whole, "said": f"{said} {key}"}),
        }
        return sent[kind]


class Caller:
    """An agent whose calls go to the provider, and who manages all of that."""

    def __init__(self, admin: Api, mark: str, key: str) -> None:
        self._admin = admin
        self._mark = mark
        self._key = key
        self._connection: dict[str, Any] = {}
        self.calls = 0

    async def set_up(self, url: str) -> None:
        admin, named = self._admin, {"key": "acme", "display_name": "A"}
        await admin.do("POST", "/api/llm-router/providers", named)
        secret = {"name": "provider", "value": self._key}
        await admin.do("POST", "/api/secrets", secret)
        sent = {"secret_name": "provider", "header": "x-api-key", "scheme": None}
        self._connection = connection(base_url=url, dialects=DIALECTS, credential=sent)
        made = await admin.do("POST", CONNECTIONS, self._connection)
        self.connection_path = f"{CONNECTIONS}/{made.data['id']}"
        targets = [target(made.data["id"], context_window=None)]
        preset = (await admin.do("POST", PRESETS, preset_body(targets))).data["id"]
        agent = await admin.do("POST", "/api/catalog/agents", {"name": "Caller"})
        self.agent_id = agent.data["id"]
        await admin.do("PUT", grant_path(preset, self.agent_id))
        routing = routing_body(to_preset("*", preset))
        await admin.do("PUT", path(self.agent_id), routing)
        await self.new_token()

    async def new_token(self) -> None:
        tokens = f"/api/mcp/agents/{self.agent_id}/tokens"
        made = await self._admin.do("POST", tokens, {"label": "test"})
        self.token = made.data["token"]

    async def record(self, mode: str) -> None:
        """Also a target that was left alone may be called again then."""
        body = {**self._connection, "record_mode": mode}
        await self._admin.do("PUT", self.connection_path, body)

    async def call(
        self, spoken: Spoken, body: bytes, headers: Mapping[str, str] | None = None
    ) -> int:
        url = f"{self._admin.url}/llm/agents/{self.agent_id}{spoken.path}"
        sent = {
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
            "User-Agent": self._mark,
            "X-Told": self._mark,
            **(headers or {}),
        }
        query = f"?q={self._mark}"
        async with self._admin.http.post(url + query, data=body, headers=sent) as reply:
            try:
                await reply.read()
            except aiohttp.ClientPayloadError:
                assert reply.status == 200
            return reply.status

    def body(self, spoken: Spoken, kind: str, **other: Any) -> bytes:
        mark = self._mark
        said = f"{mark} a prompt {mark}"
        argument = orjson.dumps({"argument": mark, mark: [mark]}).decode()
        use = {"function": {"name": mark, "arguments": argument}, "type": "function"}
        members = {
            "kind": kind,
            "messages": [
                {"role": "user", "content": said},
                {"role": "assistant", "tool_calls": [{"id": mark, **use}]},
            ],
            "input": said,
            "system": said,
            "tools": [{"name": mark, "description": said}],
            "metadata": {mark: mark},
            "stream": kind in ("streaming", "stream error", "cut"),
        }
        return spoken.request(**{**members, **other})


async def call_all(caller: Caller) -> int:
    """Make calls of every outcome; return how many are on record for each."""
    for mode in MODES:
        for spoken in STREAMED:
            for kind in OUTCOMES:
                # Each with a target that isn't left alone for what was before.
                await caller.record(MODES[mode == "strict"])
                await caller.record(mode)
                await caller.call(spoken, caller.body(spoken, kind))
            whole = caller.body(spoken, "whole")
            assert await caller.call(spoken, whole[:-1]) == 400
            long_name = caller.body(spoken, "whole", model=f"{caller.agent_id} " * 300)
            assert await caller.call(spoken, long_name) == 200
            wrong = {"Authorization": f"Bearer {caller.token}x"}
            assert await caller.call(spoken, whole, wrong) == 401
    return len(MODES) * len(STREAMED)


@pytest.mark.kafka
@pytest.mark.timeout(3600)
async def test_prompts_answers_and_credentials_of_model_calls_are_nowhere(
    tmp_path: Path, bootstrap: str
) -> None:
    mark, planted = new_mark(), new_mark()
    key = f"sk-{mark}-{secrets.token_hex(8)}-{mark}"
    data_dir, log = tmp_path / "data", tmp_path / "log"
    topic = (await new_topic(bootstrap)).topic
    options = ["--data-dir", str(data_dir), "--log-level", "debug"]
    options += ["--model-gateway-networks", "127.0.0.0/8"]
    options += ["--kafka", bootstrap, "--kafka-topic", topic]
    options += ["--kafka-replication", "1"]
    marked = MarkedProvider(mark)

    async def answers(writer: asyncio.StreamWriter) -> None:
        await marked.answer(made, writer)

    async with receiver() as exported, provider(answers) as made:
        options += ["--otlp-endpoint", exported.url]
        with running(serving(*options, log=log)) as service:
            async with new_session() as http:
                admin = Api(http, service.url, service.admin_token)
                caller = Caller(admin, mark, key)
                await caller.set_up(made.url)
                times = await call_all(caller)
                calls = await until(lambda: recorded(admin, times), timeout_s=300)
                # Something of the same kind that is meant to be found.
                for name in encodings(planted):
                    plant(data_dir, in_encoding(f"x {planted} x", name))
                session = {"X-Session-Id": planted, "X-Request-Id": planted}
                body = caller.body(STREAMED[0], "whole")
                assert await caller.call(STREAMED[0], body, session) == 200
                last = await until(lambda: of_session(admin, planted), timeout_s=300)
                await until(lambda: is_exported(exported.bodies, "/llm/agents/"))
                records = await published(bootstrap, topic, last["position"])
                headers = {"X-Request-Id": planted}
                async with http.get(f"{service.url}/metrics", headers=headers) as read:
                    metrics = await read.read()
                dump = pg_dump(data_dir)

    assert marked.keys == {key}
    assert {each["record_mode"] for each in calls} == {*MODES}
    wanted = Counter({"ok": times})
    for outcome in OUTCOMES.values():
        wanted[outcome] += times
    assert Counter(each["outcome"] for each in calls) == wanted
    places = {
        "dump of the database": [dump],
        "data folder, with the write-ahead log": list(files_in(data_dir)),
        "logs": [log.read_bytes()],
        "metrics": [metrics],
        "spans": exported.bodies,
        "topic": records,
    }
    assert b"model_gateway" in metrics
    assert found(mark, places) == set()
    assert found(caller.token, places) == set()
    in_database = {
        (place, name)
        for place in ("dump of the database", "data folder, with the write-ahead log")
        for name in encodings(planted)
    }
    expected = in_database | {("logs", "as it is"), ("topic", "as it is")}
    assert found(planted, places) >= expected


async def recorded(admin: Api, times: int) -> list[dict[str, Any]] | None:
    """Return the calls that were sent, once the ends of all are on record."""
    found, query = [], ""
    while True:
        page = (await admin.do("GET", f"{CALLS}?limit=100{query}")).data
        found += page["calls"]
        if page["end_cursor"] is None:
            break
        query = f"&after={page['end_cursor']}"
    ended = [each for each in found if each["outcome"] not in (None, "running")]
    return ended if len(ended) == times * (len(OUTCOMES) + 1) else None


async def of_session(admin: Api, session: str) -> dict[str, Any] | None:
    query = f"?session_id={session}&outcome=ok"
    calls = (await admin.do("GET", f"{CALLS}{query}")).data["calls"]
    return calls[0] if calls else None
