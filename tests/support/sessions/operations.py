"""How the walks over all operations call those of sessions."""

import gzip
from collections.abc import Iterator, Sequence
from typing import Any, Final

import orjson
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from service.sessions.otlp.body import FIELDS_MAX
from tests.support.operations.asks import JSON, Ask, World, json_ask, query_ask
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk
from tests.support.sessions.otlp.log_events import (
    claude,
    claude_call,
    codex,
    codex_call,
    logs_export,
)
from tests.support.sessions.otlp.spans import empty_messages, export, span

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_session_list                200      200      200      200     200
    get_session                     404      200      404      200     404
    post_session                    403      403      409      409     403
    post_turn                       404      403      200      403     404
    post_session_end                404      403      200      403     404
    post_reprice                    403      403      403      403     403
"""
TURN: Final = {
    "turn_id": "turn-1",
    "started_at": "2026-03-01T12:00:00Z",
    "ended_at": "2026-03-01T12:00:02.5Z",
    "provider": "acme",
    "model": "swift-1",
    "prompt_tokens": 1200,
    "completion_tokens": 80,
    "input": "Which of my issues are due?",
    "output": "Two are due today.",
}
PROTOBUF: Final = "application/x-protobuf"
UPLOAD_BYTES: Final = 16 * 1024 * 1024


async def make(walk: Walk) -> None:
    started = {"agent_id": walk.ids["agent_id"], "session_id": "chat-2026-03-01-17"}
    walk.ids["session_id"] = started["session_id"]
    await walk.call("post_session", started)
    await walk.call("post_turn", TURN)
    await walk.call("get_session")
    await walk.call(
        "get_session_list", query={"start_time": "2026-02-01T00:00:00Z", "limit": 25}
    )
    march = {
        "from_time": "2026-03-01T00:00:00Z",
        "until_time": "2026-04-01T00:00:00Z",
    }
    await walk.call("post_reprice", march)
    await walk.call("post_session_end", {})


def _list(_world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", limit=100, start_time="2000-01-01T00:00:00Z")
    yield query_ask("a far page", limit=100, offset=1_000_000)


def _session(world: World) -> Iterator[Ask]:
    for limit in (100, 500, 1000):
        yield Ask(
            what=f"{limit} turns with long texts",
            path={"session_id": world.ids["long_session_id"]},
            query=f"limit={limit}",
        )


def _turn(world: World) -> Iterator[Ask]:
    session = {"session_id": world.ids["long_session_id"]}
    for number, text in enumerate(("t" * 500_000, "\N{GRINNING FACE}" * 120_000)):
        turn = {**world.turn, "turn_id": f"worst-{number}"}
        turn |= {"input": text, "output": text[: len(text) // 2]}
        yield json_ask("long texts", turn, **session)


def _reprice(world: World) -> Iterator[Ask]:
    period = {"from_time": "2000-01-01T00:00:00Z", "until_time": "2030-01-01T00:00:00Z"}
    for dry_run in (True, False):
        for what, filters in {
            "everything": {},
            "calls": {"agent_id": world.ids["full_agent_id"]},
        }.items():
            body = {**period, **filters, "dry_run": dry_run}
            yield json_ask(f"{what}, {'dry' if dry_run else 'recorded'}", body)


def _traces(world: World) -> Iterator[Ask]:
    agent = world.ids["agent_id"]
    for what, body in _exports(agent).items():
        yield _export(what, body)
        yield _export(f"{what}, compressed", gzip.compress(body, 1), "gzip")
    zeros = gzip.compress(b"\0" * UPLOAD_BYTES)
    yield _export("zeros", zeros, "gzip")
    yield _export("many members", gzip.compress(b"") * 40_000, "gzip")
    yield _export("noise as gzip", b"\x1f\x8b" + b"\xff" * 1_000_000, "gzip")
    yield _export("noise", b"\xff" * UPLOAD_BYTES)
    # Empty messages, two bytes each.
    for what, nesting in {"resources": [1], "spans": [1, 2, 2]}.items():
        yield _export(f"empty {what}", empty_messages(7_000_000, *nesting))
        fewer = empty_messages(FIELDS_MAX - len(nesting), *nesting)
        yield _export(f"as many empty {what} as may be", fewer)
    for what, body in {
        "brackets": b"[" * UPLOAD_BYTES,
        "resources": b'{"resourceSpans":[' + b"{}," * 5_000_000 + b"{}]}",
        "unknown fields": orjson.dumps({f"k{n}": n for n in range(800_000)}),
    }.items():
        yield Ask(what=f"JSON {what}", body=body, headers={"Content-Type": JSON})
    for what, inner in {
        "resources": b"%b",
        "spans": b'{"scopeSpans":[{"spans":[%b]}]}',
        "attributes": b'{"resource":{"attributes":[%b]}}',
    }.items():
        for size in (8, 255):
            few = b"{}," * (size * 340) + b"{}"
            body = b'{"resourceSpans":[' + inner % few + b"]}"
            headers = {"Content-Type": JSON}
            yield Ask(what=f"{size} KiB of JSON {what}", body=body, headers=headers)


def _logs(world: World) -> Iterator[Ask]:
    agent = world.ids["agent_id"]
    long = "x" * 60_000
    codex_turns = [
        event
        for number in range(5_000)
        for event in (
            codex("user_prompt", number, conversation__id=f"worst-{number % 3}"),
            codex_call(number, 10, 1, conversation__id=f"worst-{number % 7}"),
        )
    ]
    for what, records in {
        "prompts and calls": codex_turns,
        "calls of one prompt": [claude_call(each, 5, 1) for each in range(6_000)],
        "long texts": [
            claude("user_prompt", each, prompt__id=f"p-{each}", prompt=long)
            for each in range(130)
        ],
        "other records": [claude("tool_result", each) for each in range(19_000)],
    }.items():
        body = logs_export(agent, *records).SerializeToString()
        yield _export(what, body)
        yield _export(f"{what}, compressed", gzip.compress(body, 1), "gzip")
    apart = ExportLogsServiceRequest()
    for record in codex_turns[:8_000]:
        apart.resource_logs.extend(logs_export(agent, record).resource_logs)
    yield _export("events of a resource each", apart.SerializeToString())
    yield from _empty()


def _metrics(_world: World) -> Iterator[Ask]:
    yield from _empty()


def _empty() -> Iterator[Ask]:
    """Yield requests of empty messages, which fit every signal."""
    for what, nesting in {"resources": [1], "items": [1, 2, 2]}.items():
        for count in (7_000_000, FIELDS_MAX - 3):
            yield _export(f"{count} empty {what}", empty_messages(count, *nesting))
    yield _export("noise", b"\xff" * UPLOAD_BYTES)


def _exports(agent: str) -> dict[str, bytes]:
    long = "x" * 60_000
    spans = [
        span(
            number,
            parent=None if number % 100 == 1 else number - 1,
            trace=number // 100 + 1,
            session__id=f"worst-{number // 100}",
            openinference__span__kind="LLM",
            llm__token_count__prompt=number,
        )
        for number in range(1, 20_000)
    ]
    texts = [
        span(
            number,
            trace=10_000 + number,
            session__id=f"texts-{number % 3}",
            input__value=long,
            output__value=long,
        )
        for number in range(1, 130)
    ]
    unknown = [span(number, trace=20_000 + number) for number in range(1, 20_000)]
    sessions = [
        span(
            number,
            trace=40_000 + number,
            session__id=f"of-a-turn-{number}",
            openinference__span__kind="LLM",
            llm__token_count__prompt=number,
        )
        for number in range(1, 5_000)
    ]
    attributes = [
        span(number, trace=90_000, tags=dict.fromkeys(map(str, range(2000)), 1))
        for number in range(1, 100)
    ]
    deep: Any = 1
    for _ in range(40):
        deep = [deep]
    nested = [span(1, trace=91_000, session__id="deep", input__value=deep)]
    return {
        "many spans": export(agent, *spans).SerializeToString(),
        "long texts": export(agent, *texts).SerializeToString(),
        "irrelevant spans": export(agent, *unknown).SerializeToString(),
        "a session each": export(agent, *sessions).SerializeToString(),
        "many attributes": export(agent, *attributes).SerializeToString(),
        "deep attributes": export(agent, *nested).SerializeToString(),
        "one trace": _one_trace(agent, spans[:6000]),
    }


def _one_trace(agent: str, spans: Sequence[Span]) -> bytes:
    for each in spans:
        each.trace_id = (95_000).to_bytes(16)
    return export(agent, *spans).SerializeToString()


def _export(what: str, body: bytes, coding: str | None = None) -> Ask:
    headers = {"Content-Type": PROTOBUF}
    if coding is not None:
        headers["Content-Encoding"] = coding
    return Ask(what=what, body=body, headers=headers)


OPERATIONS = WalkedOperations(
    after=("agents", "price_catalog"),
    make=make,
    access=ACCESS,
    not_asked=dict.fromkeys(
        ("post_traces", "post_logs", "post_metrics"),
        "refuses item by item, in the words of another protocol",
    ),
    worst={
        "get_session": _session,
        "get_session_list": _list,
        "post_logs": _logs,
        "post_metrics": _metrics,
        "post_reprice": _reprice,
        "post_traces": _traces,
        "post_turn": _turn,
    },
    simple=frozenset(["post_session", "post_session_end"]),
)
