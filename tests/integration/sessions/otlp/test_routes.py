"""OTLP over HTTP: encodings, refusals, and whose spans are taken."""

import gzip
import json
import zlib
from typing import Any
from uuid import uuid4

import pytest
from google.protobuf.json_format import MessageToDict
from google.rpc.status_pb2 import Status

from service.sessions.otlp.body import BODY_BYTES_MAX
from tests.support.callers import Caller, Callers
from tests.support.sessions.otlp.spans import (
    PROTOBUF,
    Exported,
    export,
    llm,
    report,
    send,
    session,
    span,
)
from tests.support.sessions.recording import Recorder, register_agent, turn

JSON = "application/json"
ROOT = span(1, session__id="chat", input__value="q", output__value="a", took=2)
AGENTLESS = "the resource must have the attribute agent_runtime.agent_id, an agent id"


def as_json(agent_id: str | None, *spans: Any) -> Any:
    """Return a request in OTLP's JSON: ids are hexadecimal, enums are numbers."""
    body = MessageToDict(export(agent_id, *spans), use_integers_for_enums=True)
    told = body["resourceSpans"][0]["scopeSpans"][0]["spans"]
    for each, known in zip(told, spans, strict=True):
        each["traceId"] = known.trace_id.hex()
        each["spanId"] = known.span_id.hex().upper()
        if known.parent_span_id:
            each["parentSpanId"] = known.parent_span_id.hex()
    return body


def status_of(exported: Exported) -> Status:
    assert exported.headers["Content-Type"] == PROTOBUF
    found = Status()
    found.ParseFromString(exported.body)
    return found


async def test_a_root_and_a_call_become_a_turn(recorder: Recorder, ada: Caller) -> None:
    taken = await report(recorder, llm(2, 1, 5, 1), ROOT)

    assert (taken.status, taken.headers["Content-Type"]) == (200, PROTOBUF)
    assert (taken.body, taken.rejected) == (b"", 0)
    found = await session(ada, "chat", [taken])
    [shown] = found["turns"]
    assert shown["turn_id"] == shown["trace_id"] == "0" * 31 + "1"
    assert (shown["provider"], shown["model"]) == ("acme", "swift")
    assert (shown["input"], shown["output"]) == ("q", "a")
    assert shown["token_usage"]["total"] == found["token_usage"]["total"] == 6
    assert (found["first_input"], found["last_output"]) == ("q", "a")
    assert (found["num_traces"], found["trace_latency_ms_p50"]) == (1, 2000)
    assert found["start_time"] == "2026-03-01T12:00:00.000000Z"
    assert found["user_id"] == str(recorder.caller.user_id)


async def test_json_is_taken_as_protobuf_is(recorder: Recorder, ada: Caller) -> None:
    body = as_json(recorder.agent_id, llm(2, 1, 5, 1), ROOT)
    body["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["newField"] = {"x": 1}

    taken = await send(recorder.caller, json.dumps(body).encode(), Content_Type=JSON)

    assert (taken.status, taken.body) == (200, b"{}")
    assert taken.headers["Content-Type"].startswith(JSON)
    found = await session(ada, "chat", [taken])
    assert found["turns"][0]["turn_id"] == "0" * 31 + "1"
    assert found["token_usage"]["total"] == 6


async def test_an_id_that_is_null_in_json_is_not_given(
    recorder: Recorder, ada: Caller
) -> None:
    body = as_json(recorder.agent_id, ROOT)
    body["resourceSpans"][0]["scopeSpans"][0]["spans"][0]["parentSpanId"] = None

    taken = await send(recorder.caller, json.dumps(body).encode(), Content_Type=JSON)

    assert taken.status == 200
    assert (await session(ada, "chat", [taken]))["num_traces"] == 1


async def test_gzip_is_opened(recorder: Recorder, ada: Caller) -> None:
    body = json.dumps(as_json(recorder.agent_id, ROOT)).encode()

    taken = await send(
        recorder.caller, body, Content_Encoding="gzip", Content_Type=JSON
    )

    assert taken.status == 200
    assert (await session(ada, "chat", [taken]))["num_traces"] == 1


async def test_a_bomb_is_not_opened(recorder: Recorder) -> None:
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(1024 * 1024)
    bomb = b"".join(packer.compress(zeros) for _ in range(BODY_BYTES_MAX // 2**20 + 1))
    bomb += packer.flush()
    assert len(bomb) < 20_000

    response = await recorder.caller.client.post(
        "/v1/traces",
        data=bomb,
        headers={
            "Authorization": f"Bearer {recorder.caller.token}",
            "Content-Type": PROTOBUF,
            "Content-Encoding": "gzip",
        },
    )

    assert response.status == 413


@pytest.mark.parametrize(
    ("body", "headers", "status", "words"),
    [
        (b"\xff\xff", {}, 400, "not an ExportTraceServiceRequest"),
        (b"not gzip", {"Content-Encoding": "gzip"}, 400, "can't be decompressed"),
        (
            gzip.compress(b"half of it", mtime=0)[:-9],
            {"Content-Encoding": "gzip"},
            400,
            "can't be decompressed",
        ),
        (
            gzip.compress(b"\xff", mtime=0) * 2,
            {"Content-Encoding": "gzip"},
            400,
            "not an ExportTraceServiceRequest",
        ),
        (
            gzip.compress(b"", mtime=0) * 17,
            {"Content-Encoding": "gzip"},
            400,
            "can't be decompressed",
        ),
        (b"", {"Content-Encoding": "br"}, 415, "by anything but gzip"),
        (b"", {"Content-Encoding": "zstd"}, 415, "by anything but gzip"),
        (b"", {"Content-Type": "text/plain"}, 415, "must be application/x-protobuf"),
        (b"", {"Content-Encoding": "deflate"}, 415, "by anything but gzip"),
        (b"{", {"Content-Type": JSON}, 400, "is not JSON"),
        (b"[]", {"Content-Type": JSON}, 400, "in OTLP's JSON"),
        (b'{"resourceSpans":[7]}', {"Content-Type": JSON}, 400, "in OTLP's JSON"),
        (b"[" * 100_000, {"Content-Type": JSON}, 400, "is not JSON"),
    ],
)
async def test_what_can_t_be_read_is_refused(
    recorder: Recorder, body: bytes, headers: dict[str, str], status: int, words: str
) -> None:
    raw = {"Authorization": f"Bearer {recorder.caller.token}", "Content-Type": PROTOBUF}
    raw |= headers

    response = await recorder.caller.client.post("/v1/traces", data=body, headers=raw)
    answer = await response.read()

    assert response.status == status
    # All that OpenTelemetry's SDK for Python logs.
    assert words in (response.reason or "")
    if raw["Content-Type"] == PROTOBUF:
        found = Status()
        found.ParseFromString(answer)
        assert words in found.message
        assert found.code == 3
    else:
        # An envelope; and, to clients that speak OTLP, a Status.
        assert words in json.loads(answer)["message"]


async def test_taking_a_role_needs_a_token(callers: Callers) -> None:
    refused = await send(callers.anonymous(), export(None, ROOT))

    assert refused.status == 401
    assert refused.headers["WWW-Authenticate"].startswith("Bearer")
    assert (status_of(refused).code, status_of(refused).message) == (
        16,
        "a valid bearer token is required",
    )


async def test_a_manager_records_only_their_own_sessions(
    recorder: Recorder, ada: Caller
) -> None:
    taken = await send(
        ada,
        export(recorder.agent_id, span(1, session__id="mine", user__id="runtime")),
    )

    found = await session(ada, "mine", [taken])
    assert found["user_id"] == str(ada.user_id)


async def test_a_stranger_records_nothing(recorder: Recorder, callers: Callers) -> None:
    eve = await callers.user("eve")

    for agent_id in (recorder.agent_id, str(uuid4())):
        refused = await send(eve, export(agent_id, ROOT))
        assert refused.status == 403
        assert status_of(refused).code == 7


async def test_a_session_that_was_started_keeps_its_user(
    recorder: Recorder, callers: Callers
) -> None:
    bob = await callers.user("bob")
    await recorder.start("chat", user_id=str(bob.user_id))

    taken = await report(recorder, ROOT)

    found = await session(bob, "chat", [taken])
    assert (found["user_id"], found["num_traces"]) == (str(bob.user_id), 1)


@pytest.mark.parametrize(
    "agent_id", [None, "helper", "6b9f0c9e-2a6e-4a8c-9b0e-0c6e3f0f5d11"]
)
async def test_spans_of_no_agent_are_refused(
    recorder: Recorder, agent_id: str | None
) -> None:
    refused = await send(recorder.caller, export(agent_id, ROOT))

    assert refused.status == 400
    assert status_of(refused).message in (AGENTLESS, "no such agent")


async def test_the_genai_attribute_names_the_agent_too(
    recorder: Recorder, ada: Caller
) -> None:
    request = export(recorder.agent_id, ROOT, attribute="gen_ai.agent.id")

    taken = await send(recorder.caller, request)

    assert (await session(ada, "chat", [taken]))["agent_id"] == recorder.agent_id


async def test_some_refused_spans_don_t_harm_the_others(
    recorder: Recorder, ada: Caller
) -> None:
    request = export(recorder.agent_id, ROOT, span(2, session__id="x", trace=0))
    request.MergeFrom(export(None, span(3, trace=3), span(4, trace=4)))

    taken = await send(recorder.caller, request)

    assert taken.rejected == 3
    assert taken.reason == f"a trace id must have 16 bytes, not all 0; {AGENTLESS}"
    assert (await session(ada, "chat", [taken]))["num_traces"] == 1


async def test_partial_success_in_json(recorder: Recorder) -> None:
    body = as_json(recorder.agent_id, ROOT, span(2, trace=0))

    taken = await send(recorder.caller, json.dumps(body).encode(), Content_Type=JSON)

    assert json.loads(taken.body) == {
        "partialSuccess": {
            "rejectedSpans": "1",
            "errorMessage": "a trace id must have 16 bytes, not all 0",
        }
    }


async def test_a_session_of_another_agent_takes_no_turn(
    recorder: Recorder, ada: Caller
) -> None:
    other = await register_agent(ada, "other")
    await send(recorder.caller, export(other, ROOT))

    taken = await report(
        recorder, span(5, trace=5, session__id="chat"), span(6, trace=6)
    )

    assert taken.rejected == 1
    assert taken.reason == "this session id is taken by another agent or user"


async def test_a_turn_that_was_reported_as_such_stays(
    recorder: Recorder, ada: Caller
) -> None:
    await recorder.record("chat", turn("0" * 31 + "1", model="said", provider="so"))

    await report(recorder, ROOT, llm(2, 1, 5, 1))

    reply = await ada.get(
        "/api/observability/session/chat", X_Min_Position=recorder.position
    )
    assert [each["model"] for each in reply.data["turns"]] == ["said"]


async def test_nothing_to_take_is_taken(recorder: Recorder) -> None:
    for request in (export(recorder.agent_id), export(None)):
        taken = await send(recorder.caller, request)
        assert (taken.status, taken.rejected) == (200, 0)
        assert "X-Event-Position" not in taken.headers


async def test_a_read_right_after_an_export_shows_the_turn(
    recorder: Recorder,
) -> None:
    sent = [
        report(recorder, span(1, trace=number, session__id=f"chat-{number}"))
        for number in range(1, 21)
    ]

    for number, each in enumerate(sent, start=1):
        assert (await each).status == 200
        found = await recorder.caller.get(f"/api/observability/session/chat-{number}")
        assert found.status == 200
