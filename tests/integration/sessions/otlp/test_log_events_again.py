"""Log events that come again, or long after the others of their turn."""

from datetime import timedelta
from random import Random
from typing import Any

import pytest
from opentelemetry.proto.logs.v1.logs_pb2 import LogRecord

from service.resources import Resources
from service.sessions.otlp.logs.expiry import delete_old_events
from service.sessions.otlp.old_traces import delete_old_traces
from tests.support.callers import Caller
from tests.support.sessions.otlp.log_events import (
    SESSION,
    claude,
    claude_call,
    codex,
    codex_call,
    report_logs,
)
from tests.support.sessions.otlp.spans import (
    Exported,
    llm,
    report,
    session,
    span,
)
from tests.support.sessions.recording import Recorder

HOUR_S = 3600
MODEL: Any = {"llm__model_name": "claude-test"}


async def turns(reader: Caller, *sent: Exported) -> Any:
    return (await session(reader, SESSION, sent))["turns"]


def prompts_of(shown: Any) -> list[int]:
    return [turn["token_usage"]["prompt"] or 0 for turn in shown]


def asked(at: float = 0) -> LogRecord:
    return codex("user_prompt", at, prompt="q")


def in_trace(record: LogRecord) -> LogRecord:
    record.trace_id, record.span_id = (1).to_bytes(16), (1).to_bytes(8)
    return record


async def forget_spans(resources: Resources) -> None:
    await delete_old_traces(resources.pool, kept_for=timedelta(0))


@pytest.mark.parametrize(
    "requests",
    [
        ([codex_call(2, 10, 1)], [asked()], [codex_call(2, 10, 1)]),
        ([asked(), codex_call(9, 10, 1)], [asked(5)], [codex_call(9, 10, 1)]),
        ([codex_call(2, 10, 1)], [asked(), codex_call(2, 10, 1)]),
    ],
    ids=["before its prompt", "before a nearer prompt", "in overlapping requests"],
)
async def test_a_call_that_comes_again_counts_once(
    recorder: Recorder, ada: Caller, requests: tuple[list[LogRecord], ...]
) -> None:
    sent = [await report_logs(recorder, *records) for records in requests]

    assert sum(prompts_of(await turns(ada, *sent))) == 10


async def test_a_call_that_comes_again_without_its_prompt_counts_once(
    recorder: Recorder, ada: Caller, resources: Resources
) -> None:
    first = await report_logs(recorder, asked(), codex_call(2, 10, 1))
    async with resources.pool.connection() as db:
        await db.execute("DELETE FROM events.reported_prompt")

    again = await report_logs(recorder, codex_call(2, 10, 1))

    assert prompts_of(await turns(ada, first, again)) == [10]


@pytest.mark.parametrize("seed", range(4))
async def test_requests_in_any_order_and_repeated_count_each_call_once(
    recorder: Recorder, ada: Caller, resources: Resources, seed: int
) -> None:
    # given
    random = Random(seed)  # noqa: S311 # of a test
    calls = [codex_call(2 * n + 1, 2**n, 0) for n in range(8)]
    records = [asked(0), asked(6), *calls]
    requests = [random.sample(records, random.randint(1, 4)) for _ in range(12)]
    requests.append(records)

    # when
    sent = []
    for request in requests:
        sent.append(await report_logs(recorder, *request))
        if random.random() < 0.3:
            await forget_spans(resources)

    # then
    assert sum(prompts_of(await turns(ada, *sent))) == 2**8 - 1


async def test_a_turn_goes_on_as_a_further_turn_after_its_spans_were_deleted(
    recorder: Recorder, ada: Caller, resources: Resources
) -> None:
    # given
    first = await report_logs(
        recorder, claude("user_prompt", 0, prompt="q"), claude_call(2, 10, 1)
    )
    await forget_spans(resources)

    # when
    late = await report_logs(
        recorder,
        claude_call(3 * HOUR_S, 20, 1),
        claude("assistant_response", 3 * HOUR_S + 1, response="done"),
    )
    again = await report_logs(recorder, claude_call(2, 10, 1))
    later = await report_logs(recorder, claude_call(3 * HOUR_S + 5, 40, 1))
    await forget_spans(resources)
    last = await report_logs(
        recorder, claude_call(9 * HOUR_S, 80, 1), claude_call(3 * HOUR_S, 20, 1)
    )

    # then
    shown = await turns(ada, first, late, again, later, last)
    assert prompts_of(shown) == [10, 60, 80]
    assert [turn["output"] for turn in shown] == [None, "done", None]


@pytest.mark.parametrize("first", [SESSION, "other"])
async def test_a_turn_goes_on_also_where_its_trace_has_two_sessions(
    recorder: Recorder, ada: Caller, resources: Resources, first: str
) -> None:
    # given
    def called(at: float, prompt: int, name: str) -> LogRecord:
        return in_trace(claude_call(at, prompt, 0, session__id=name))

    sent = [await report_logs(recorder, called(2, 10, SESSION))]
    await forget_spans(resources)

    # when: of both, at once
    late = [called(3 * HOUR_S, 20, SESSION), called(3 * HOUR_S + 1, 40, "other")]
    late.sort(key=lambda record: first.encode() not in record.SerializeToString())
    sent.append(await report_logs(recorder, *late))

    # then
    shown = await turns(ada, *sent)
    assert prompts_of(shown) == [10, 60]


async def test_an_event_that_comes_hours_after_its_span_counts_once(
    recorder: Recorder, ada: Caller, resources: Resources
) -> None:
    root = span(1, took=9, session__id=SESSION)
    told = await report(recorder, root, llm(2, 1, 100, 1, start=1, **MODEL))
    await forget_spans(resources)

    late = await report_logs(recorder, in_trace(claude_call(2, 100, 1)))

    assert prompts_of(await turns(ada, told, late)) == [100]


async def test_an_event_whose_span_is_in_a_full_trace_counts_once(
    recorder: Recorder, ada: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in ("pending", "kept_traces", "logs.further_turns"):
        monkeypatch.setattr(f"service.sessions.otlp.{module}.SPANS_OF_TRACE_MAX", 2)
    root = span(1, took=9, session__id=SESSION)
    told = await report(recorder, root, llm(2, 1, 100, 1, start=1, **MODEL))

    late = await report_logs(recorder, in_trace(claude_call(2, 100, 1)))

    assert prompts_of(await turns(ada, told, late)) == [100]


async def test_a_turn_of_codex_goes_on_after_its_spans_were_deleted(
    recorder: Recorder, ada: Caller, resources: Resources
) -> None:
    first = await report_logs(recorder, asked(), codex_call(2, 10, 1))
    await forget_spans(resources)
    late = await report_logs(recorder, codex_call(3 * HOUR_S, 20, 1))
    later = await report_logs(recorder, codex_call(3 * HOUR_S + 9, 40, 1))

    assert prompts_of(await turns(ada, first, late, later)) == [10, 60]


async def test_a_turn_whose_spans_began_anew_goes_on_with_its_events(
    recorder: Recorder, ada: Caller, resources: Resources
) -> None:
    # given
    first = await report_logs(recorder, in_trace(claude_call(2, 10, 1)))
    await forget_spans(resources)
    root = await report(recorder, span(1, session=SESSION))

    # when
    late = await report_logs(recorder, in_trace(claude_call(3 * HOUR_S, 10, 1)))

    # then
    assert prompts_of(await turns(ada, first, root, late)) == [10, 10]


@pytest.mark.parametrize(
    ("bound", "least", "expected"),
    [("SPANS_OF_TRACE_MAX", 3, [3, 2]), ("TRACE_BYTES_MAX", 600, [3, 1, 1])],
)
async def test_a_turn_goes_on_where_its_trace_is_full(
    recorder: Recorder,
    ada: Caller,
    monkeypatch: pytest.MonkeyPatch,
    bound: str,
    least: int,
    expected: list[int],
) -> None:
    # given
    for module in ("pending", "logs.further_turns"):
        monkeypatch.setattr(f"service.sessions.otlp.{module}.{bound}", least)
    calls = [claude_call(n, 1, 0) for n in range(1, 6)]

    # when
    sent = [
        await report_logs(recorder, *records)
        for records in (calls[:3], calls[3:4], [calls[0], calls[4]])
    ]

    # then
    assert [each.rejected for each in sent] == [0, 0, 0]
    assert prompts_of(await turns(ada, *sent)) == expected


async def test_nothing_is_kept_of_events_for_which_there_is_no_room(
    recorder: Recorder, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.sessions.otlp.pending.TRACES_OF_AGENT_MAX", 0)

    refused = await report_logs(recorder, asked(), codex_call(2, 10, 1))

    assert refused.status == 429
    async with resources.pool.connection() as db:
        cursor = await db.execute(
            "SELECT (SELECT count(*) FROM events.reported_prompt)"
            "     + (SELECT count(*) FROM events.reported_event)"
        )
        assert await cursor.fetchone() == (0,)


async def test_where_events_went_is_forgotten_after_a_day(
    recorder: Recorder, resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.sessions.otlp.logs.expiry.FORGET_ROWS_MAX", 2)
    await report_logs(recorder, asked(), *(codex_call(n, 1, 0) for n in range(1, 6)))
    count = "SELECT count(*) FROM events.reported_event"

    await delete_old_events(resources.pool)
    async with resources.pool.connection() as db:
        assert await (await db.execute(count)).fetchone() == (6,)
    await delete_old_events(resources.pool, kept_for=timedelta(0))

    async with resources.pool.connection() as db:
        assert await (await db.execute(count)).fetchone() == (0,)
