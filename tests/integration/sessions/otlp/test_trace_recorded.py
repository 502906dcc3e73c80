"""A session is the same however the spans of its traces came."""

from itertools import pairwise
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.resources import Resources
from tests.support.callers import Caller
from tests.support.sessions.otlp.one_trace import OF_A_TRACE
from tests.support.sessions.otlp.spans import export, llm, report, send, session, span
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder

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


@pytest.fixture
async def prices(root: Caller) -> None:
    await set_price(root, "swift", 1, output=1)
    await set_price(root, "strong", 10, output=10)


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
                # A trace of this example alone: it is one turn of one session.
                copy.trace_id = (
                    int(session_id) * 100 + int.from_bytes(each.trace_id)
                ).to_bytes(16)
                for pair in copy.attributes:
                    if pair.key == "session.id":
                        pair.value.string_value = f"chat-{session_id}"
                named.append(copy)
            reply = await report(recorder, *named)
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
        exported = [await report(recorder, *spans) for spans in requests]
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
    ours = await report(recorder, span(1, session__id="ours"))
    await send(recorder.caller, export(other.data["id"], llm(2, 1, 5, 1)))

    found = await session(ada, "ours", [ours])

    assert UUID(found["agent_id"]) == UUID(recorder.agent_id)
    assert found["token_usage"]["total"] is None
