"""A turn follows from the set of a trace's spans: not from how they came."""

from datetime import timedelta
from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.resources import Resources
from service.sessions.otlp.conventions import reported_span
from service.sessions.otlp.span import KeptEntry, KeptSpan
from service.sessions.otlp.trace import TraceTurn, turn_of
from tests.callers import Caller, Callers
from tests.sessions.otlp.spans import IS_REMOTE, NOON, export, llm, send, session, span
from tests.sessions.recording import Recorder


def turn(*spans: Any) -> TraceTurn | None:
    """Fold spans, without what is done about their texts."""
    kept = []
    for each in map(reported_span, spans):
        entry: Any = each.entry and KeptEntry(
            is_root=each.entry.is_root,
            ended_at=each.entry.ended_at.isoformat(),
            user_id=None,
            is_error=each.entry.is_error,
            owner="",
            sealed_input=each.entry.texts.input,
            sealed_output=each.entry.texts.output,
            sealed_error=each.entry.texts.error,
        )
        kept.append(
            KeptSpan(
                span_id=each.span_id,
                parent_id=each.parent_id,
                started_at=each.started_at.isoformat(),
                session_id=each.session_id,
                entry=entry,
                call=each.call,
            )
        )
    return turn_of("1", kept)


def spent(*spans: Any) -> dict[str | None, tuple[int | None, int | None]]:
    """Return prompt and completion tokens by model."""
    found = turn(*spans)
    assert found is not None
    return {
        share.model: (share.tokens.prompt, share.tokens.completion)
        for share in found.shares
    }


def test_a_trace_without_a_root_is_no_turn() -> None:
    assert turn(llm(2, 1, 5, 1, session__id="s")) is None


def test_a_trace_without_a_session_is_no_turn() -> None:
    assert turn(span(1), llm(2, 1, 5, 1)) is None


def test_any_span_may_name_the_session() -> None:
    found = turn(span(1), span(2, 1, gen_ai__conversation__id=" s "))

    assert found is not None
    assert found.session_id == "s"


def test_the_root_s_session_comes_first_then_the_earliest() -> None:
    late, early = span(2, 1, start=0.5, session__id="b"), span(3, 1, session__id="a")

    for spans, expected in (
        ([span(1, session__id="r"), late, early], "r"),
        ([span(1), late, early], "a"),
    ):
        found = turn(*spans)
        assert found is not None
        assert found.session_id == expected


def test_a_turn_takes_as_long_as_its_root() -> None:
    found = turn(span(1, start=1, took=2, session__id="s"), span(2, 1, took=9))

    assert found is not None
    assert found.started_at == NOON + timedelta(seconds=1)
    assert found.ended_at == NOON + timedelta(seconds=3)


def test_a_trace_that_somebody_else_began_begins_where_it_was_called() -> None:
    second = span(5, 99, start=3, flags=IS_REMOTE, session__id="s")
    first = span(4, 98, start=1, flags=IS_REMOTE, session__id="s")

    called = turn(second, first)
    with_root = turn(second, first, span(1, start=4, session__id="s"))

    assert called is not None
    assert with_root is not None
    assert called.entry_span_id == (4).to_bytes(8).hex()
    assert with_root.entry_span_id == (1).to_bytes(8).hex()
    assert called.spans < with_root.spans


def test_calls_of_one_model_add_up() -> None:
    assert spent(
        span(1, session__id="s"),
        llm(2, 1, 5, 1),
        llm(3, 1, 7, 2),
        llm(4, 1, 100, 10, llm__model_name="strong"),
    ) == {"swift": (12, 3), "strong": (100, 10)}


def test_the_main_model_is_the_one_that_took_most() -> None:
    found = turn(
        span(1, session__id="s"),
        llm(2, 1, 5, 1),
        llm(3, 1, 100, 10, llm__model_name="strong"),
    )

    assert found is not None
    assert found.main_share is not None
    assert found.main_share.model == "strong"
    assert (found.tokens.prompt, found.tokens.completion) == (105, 11)


def test_what_an_agent_s_run_sums_up_isn_t_counted_twice() -> None:
    run = span(
        1,
        session__id="s",
        gen_ai__operation__name="invoke_agent",
        gen_ai__usage__input_tokens=12,
        gen_ai__usage__output_tokens=3,
    )

    assert spent(run, llm(2, 1, 5, 1), llm(3, 1, 7, 2)) == {"swift": (12, 3)}
    # Nobody else has told: then the sum is what is known.
    assert spent(run) == {None: (12, 3)}


def test_of_two_layers_around_one_call_the_inner_one_counts() -> None:
    assert spent(span(1, session__id="s"), llm(2, 1, 5, 1), llm(3, 2, 6, 1)) == {
        "swift": (6, 1)
    }


OF_A_TRACE = [
    span(1, took=5, session__id="chat", input__value="q", output__value="a"),
    llm(2, 1, 10, 2, start=1),
    llm(3, 1, 20, 3, start=2, llm__model_name="strong"),
    span(4, 1, start=1.5, openinference__span__kind="TOOL", session__id="chat"),
    llm(5, 4, 30, 4, start=1.6),
    llm(6, 5, 31, 4, start=1.7),
    span(7, 1, start=3, gen_ai__usage__input_tokens=99, gen_ai__operation__name="plan"),
]
OF_ANOTHER = [
    span(11, trace=2, start=10, session__id="chat", error="boom", input__value="q2"),
    llm(12, 11, 1, 1, trace=2, start=10.5),
]
FIGURES = [
    *("start_time", "end_time", "duration_ms", "cost_summary", "token_usage"),
    *("num_traces", "num_traces_with_error", "trace_latency_ms_p50"),
    *("trace_latency_ms_p99", "first_input", "last_output"),
]
TURN = [
    *("start_time", "end_time", "provider", "model", "token_usage", "cost"),
    *("is_error", "error", "input", "output"),
]


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_the_order_of_spans_doesn_t_matter(data: st.DataObject) -> None:
    told = data.draw(st.permutations(OF_A_TRACE))

    assert turn(*told) == turn(*OF_A_TRACE)


@pytest.fixture
async def prices(callers: Callers) -> None:
    root = await callers.user("root", "superuser")
    await root.post("/api/llm-router/providers", {"key": "acme", "display_name": "A"})
    for model, amount in (("swift", "1"), ("strong", "10")):
        body = {
            "provider": "acme",
            "model": model,
            "input_price_per_1m": amount,
            "output_price_per_1m": amount,
            "effective_from": "2026-01-01T00:00:00Z",
        }
        assert (await root.post("/api/llm-router/prices", body)).status == 201


@pytest.fixture
def settled(prices: None, resources: Resources, recorder: Recorder, ada: Caller) -> Any:
    """Send spans in some requests, and return what then is known of the session."""

    async def send_all(requests: list[list[Any]], session_id: str) -> Any:
        exported = []
        for spans in requests:
            named = []
            for each in spans:
                copy = type(each)()
                copy.CopyFrom(each)
                # Of this example alone: a trace is one turn of one session.
                copy.trace_id = (
                    int(session_id) * 100 + int.from_bytes(each.trace_id)
                ).to_bytes(16)
                for pair in copy.attributes:
                    if pair.key == "session.id":
                        pair.value.string_value = f"chat-{session_id}"
                named.append(copy)
            reply = await send(recorder.caller, export(recorder.agent_id, *named))
            assert (reply.status, reply.rejected) == (200, 0)
            exported.append(reply)
        found = await session(ada, f"chat-{session_id}", exported)
        usage = await ada.get("/api/usage?from_day=2026-03-01&until_day=2026-03-01")
        turns = [{name: each[name] for name in TURN} for each in found["turns"]]
        # When the last of its spans came.
        for name in ("first_priced_at", "last_priced_at"):
            assert found["cost_summary"].pop(name) is not None
        return {name: found[name] for name in FIGURES}, turns, usage.status

    return send_all


async def test_any_order_split_and_repetition_of_spans_gives_the_same_session(
    settled: Any,
) -> None:
    expected = await settled([OF_A_TRACE + OF_ANOTHER], "1")
    assert expected[0]["num_traces"] == 2
    assert expected[0]["token_usage"]["total"] == 12 + 23 + 35 + 2
    # 12 + 35 + 2 of the swift model, 23 of the strong one, for ten times as much.
    assert expected[0]["cost_summary"]["total"]["cost"] == pytest.approx(0.000279)

    drawn: list[list[list[Any]]] = []

    @settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
    @given(data=st.data())
    def draw(data: st.DataObject) -> None:
        everything = OF_A_TRACE + OF_ANOTHER
        again = data.draw(st.lists(st.sampled_from(everything), max_size=6))
        told = data.draw(st.permutations(everything + again))
        places = data.draw(st.lists(st.integers(1, len(told) - 1), max_size=6))
        edges = sorted({0, len(told), *places})
        drawn.append([told[start:end] for start, end in pairwise(edges)])

    draw()
    for number, requests in enumerate(drawn, 2):
        assert await settled(requests, str(number)) == expected, requests


async def test_usage_is_the_same_whether_spans_came_together_or_not(
    prices: None, recorder: Recorder, ada: Caller
) -> None:
    async def usage(day: int, requests: list[list[Any]]) -> Any:
        exported = [
            await send(recorder.caller, export(recorder.agent_id, *spans))
            for spans in requests
        ]
        reply = await ada.get(
            f"/api/usage?from_day=2026-03-0{day}&until_day=2026-03-0{day}"
            "&group_by=provider,model",
            X_Min_Position=exported[-1].position,
        )
        assert reply.status == 200, reply.data
        return reply.data["usage"]

    next_day = []
    for each in OF_A_TRACE:
        copy = type(each)()
        copy.CopyFrom(each)
        copy.trace_id = (7).to_bytes(16)
        copy.start_time_unix_nano += 86_400 * 10**9
        copy.end_time_unix_nano += 86_400 * 10**9
        next_day.append(copy)

    together = await usage(1, [OF_A_TRACE])
    apart = await usage(2, [[each] for each in next_day])

    assert together == apart
    assert {row["model"]: row["turns"] for row in apart} == {"swift": 1, "strong": 0}
    assert sum(row["token_usage"]["total"] for row in apart) == 70


async def test_one_agent_s_spans_are_no_part_of_another_s_trace(
    recorder: Recorder, ada: Caller
) -> None:
    other = await ada.post("/api/catalog/agents", {"name": "other"})
    ours = await send(
        recorder.caller, export(recorder.agent_id, span(1, session__id="ours"))
    )
    await send(recorder.caller, export(other.data["id"], llm(2, 1, 5, 1)))

    found = await session(ada, "ours", [ours])

    assert UUID(found["agent_id"]) == UUID(recorder.agent_id)
    assert found["token_usage"]["total"] is None
