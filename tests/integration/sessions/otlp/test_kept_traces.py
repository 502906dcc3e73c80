"""What is kept while a trace may still grow, and what becomes of it."""

from datetime import timedelta
from typing import Any

import pytest
from prometheus_client import REGISTRY

from service.resources import Resources
from service.sessions.otlp import kept_traces, pending
from service.sessions.otlp.full_traces import TOO_LARGE
from service.sessions.otlp.old_traces import delete_old_traces
from tests.integration.sessions.otlp.test_routes import status_of
from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import (
    NOON,
    export,
    llm,
    report,
    send,
    session,
    span,
)
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder

WORDS = "correct horse battery staple"


async def kept(resources: Resources) -> list[Any]:
    async with resources.pool.connection() as db:
        cursor = await db.execute("SELECT t::text FROM events.reported_trace t")
        return [row[0] for row in await cursor.fetchall()]


def forgotten(was: str) -> float:
    return (
        REGISTRY.get_sample_value(
            "agent_runtime_reported_traces_forgotten_total", {"was": was}
        )
        or 0.0
    )


async def test_words_are_kept_sealed(resources: Resources, recorder: Recorder) -> None:
    said = span(1, input__value=WORDS, output__value=WORDS, error=WORDS)

    await report(recorder, said)

    [row] = await kept(resources)
    assert WORDS not in row
    assert "sealed_input" in row


async def test_words_of_an_erased_user_are_never_recorded(
    resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    said = span(1, input__value=WORDS, output__value=WORDS)
    await report(recorder, said)
    assert recorder.caller.user_id is not None
    await resources.vault.destroy_user(recorder.caller.user_id)

    taken = await report(recorder, span(2, 1, session__id="chat"))

    found = await session(ada, "chat", [taken])
    assert (found["num_traces"], found["first_input"]) == (1, None)


async def test_a_trace_is_forgotten_after_its_last_span(
    resources: Resources, recorder: Recorder
) -> None:
    await report(recorder, span(1, session__id="chat"), llm(2, 9, 5, 1, trace=2))
    before = forgotten("a turn"), forgotten("incomplete")

    assert await delete_old_traces(resources.pool) == 0
    assert await delete_old_traces(resources.pool, kept_for=timedelta(0)) == 2

    assert await kept(resources) == []
    assert (forgotten("a turn"), forgotten("incomplete")) == (
        before[0] + 1,
        before[1] + 1,
    )


async def test_a_root_that_comes_again_after_that_changes_nothing(
    resources: Resources, recorder: Recorder, ada: Caller
) -> None:
    root, call = span(1, session__id="chat"), llm(2, 1, 5, 1)
    first = await report(recorder, root, call)
    await delete_old_traces(resources.pool, kept_for=timedelta(0))

    again = await report(recorder, root)

    assert again.status == 200
    assert "X-Event-Position" not in again.headers
    found = await session(ada, "chat", [first, again])
    assert found["token_usage"]["total"] == 6


async def test_a_trace_takes_only_so_many_spans(
    recorder: Recorder, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "SPANS_OF_TRACE_MAX", 3)
    calls = [llm(2, 1, 5, 1), llm(3, 1, 5, 1)]
    taken = await report(recorder, span(1, session__id="chat"), *calls)

    more = await report(recorder, llm(4, 1, 5, 1), span(9, trace=9, session__id="b"))

    assert (more.rejected, more.reason) == (1, TOO_LARGE)
    found = await session(ada, "chat", [taken, more])
    assert found["token_usage"]["total"] == 12


async def test_a_root_is_taken_also_without_room_and_the_cost_is_an_estimate(
    root: Caller,
    recorder: Recorder,
    ada: Caller,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    await set_price(root, "swift", 1)
    monkeypatch.setattr(pending, "SPANS_OF_TRACE_MAX", 3)
    calls = [llm(number, 1, 1_000_000, 1) for number in (2, 3, 4)]
    await report(recorder, *calls)
    refused = await report(recorder, llm(5, 1, 1_000_000, 1))

    first = await report(recorder, span(1, session__id="chat"))

    assert (refused.status, first.status, first.rejected) == (400, 200, 0)
    [turn] = (await session(ada, "chat", [first]))["turns"]
    assert (turn["cost"], turn["estimated"]) == (3, ["calls"])


async def test_a_root_in_a_request_of_too_many_spans_is_taken(
    recorder: Recorder, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "SPANS_OF_TRACE_MAX", 3)
    monkeypatch.setattr(kept_traces, "SPANS_OF_TRACE_MAX", 3)
    calls = [llm(number, 1, 5, 1) for number in (2, 3, 4)]

    taken = await report(recorder, *calls, span(1, session__id="chat"))

    assert (taken.status, taken.rejected, taken.reason) == (200, 3, TOO_LARGE)
    [turn] = (await session(ada, "chat", [taken]))["turns"]
    assert turn["cost"] is None
    assert turn["unpriced"] is not None


async def test_an_agent_begins_only_so_many_traces(
    recorder: Recorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "TRACES_OF_AGENT_MAX", 0)

    refused = await report(recorder, span(1, session__id="chat"))

    assert (refused.status, refused.headers["Retry-After"]) == (429, "30")


async def test_long_texts_are_cut_once(recorder: Recorder, ada: Caller) -> None:
    text = "é" * 40_000
    taken = await report(recorder, span(1, session__id="chat", input__value=text))

    [turn] = (await session(ada, "chat", [taken]))["turns"]

    assert turn["input"] == "é" * 32_768
    assert turn["input_truncated"]
    assert turn["start_time"] == NOON.isoformat().replace("+00:00", "Z")


async def test_a_trace_takes_only_so_long_texts(
    recorder: Recorder, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pending, "TRACE_BYTES_MAX", 4 * 1024)
    begins = span(1, session__id="chat", input__value="x" * 900)
    again = span(2, session__id="chat", input__value="y" * 2000)
    taken = await report(recorder, begins)

    more = await report(recorder, again)
    after = await report(recorder, llm(3, 1, 5, 1))
    alone = await report(recorder, span(4, trace=4, input__value="z" * 5000))

    assert more.rejected == 0
    assert after.status == alone.status == 400
    assert TOO_LARGE == status_of(after).message == status_of(alone).message
    found = await session(ada, "chat", [taken, more, after])
    assert found["first_input"] == "x" * 900


@pytest.mark.parametrize(
    ("scope", "attributes"),
    [
        ("a\0b", {}),
        ("scope", {"gen_ai__response__id": "a\0b"}),
        ("scope", {"openai__response__service_tier": "a\0b"}),
        ("scope", {"output__value": '{"id": "a\\u0000b"}'}),
    ],
)
async def test_names_that_cant_be_stored_don_t_fail_the_export(
    recorder: Recorder, ada: Caller, scope: str, attributes: Any
) -> None:
    body = export(
        recorder.agent_id, span(1, session__id="s"), llm(2, 1, 5, 1, **attributes)
    )
    body.resource_spans[0].scope_spans[0].scope.name = scope

    taken = await send(recorder.caller, body)

    assert (taken.status, taken.body) == (200, b"")
    found = await session(ada, "s", [taken])
    assert found["token_usage"]["total"] == 6
