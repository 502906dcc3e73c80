"""The list, one session, its turns and the usage show the same figures.

Whatever the trace store says; what else it may say, ``test_trace_store`` compares.
"""

from typing import Any

import pytest
from aiohttp.test_utils import TestClient, TestServer

from projections.sessions.trace_store import TRACES, Traces
from service.app import create_app
from service.resources import Resources
from tests.integration.sessions.test_trace_store import (
    Answers,
    Store,
    knows_all,
    raises,
)
from tests.support.callers import Caller
from tests.support.sessions.otlp.spans import llm, report, span
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import LIST, LONG_AGO, Recorder

TURNS = 3


@pytest.fixture
async def position(recorder: Recorder, root: Caller) -> str:
    """Record turns of two models each, and correct a price afterwards."""
    await set_price(root, "swift", "0.05", output="0.1")
    priced = await set_price(root, "strong", "3", output="0.1")
    for number in range(1, TURNS + 1):
        spans = [
            span(1, trace=number, session__id="chat-1", start=number),
            llm(2, 1, 1_001, 7, trace=number, start=number, llm__cost__total=0.5),
            llm(3, 1, 90, 3, trace=number, start=number, llm__model_name="strong"),
        ]
        sent = await report(recorder, *spans)
    version = priced["price"]["price_version"]
    corrected = await root.post(
        f"/api/llm-router/models/{priced['model_id']}/prices/{version}/corrections",
        {"input_price_per_1m": "4", "output_price_per_1m": "0.1"},
    )
    assert corrected.status == 201, corrected.data
    period = {"from_time": "2026-03-01T00:00:00Z", "until_time": "2026-03-02T00:00:00Z"}
    repriced = await root.post(
        "/api/llm-router/reprice",
        {**period, "dry_run": False},
        X_Min_Position=sent.position,
    )
    assert repriced.data["turns_changed"] == TURNS
    return str(repriced.position)


@pytest.mark.parametrize("answers", [None, knows_all, raises])
async def test_figures_are_the_same_everywhere(
    resources: Resources,
    recorder: Recorder,
    ada: Caller,
    position: str,
    answers: Answers | None,
) -> None:
    app = create_app(resources)
    if answers is not None:
        app[TRACES] = Traces(Store(answers), deadline_s=60)
    async with TestClient(TestServer(app)) as client:
        caller = Caller(client, ada.token)

        async def get(path: str) -> Any:
            reply = await caller.get(path, X_Min_Position=position)
            assert reply.status == 200, reply.data
            return reply.data

        [listed] = (await get(f"{LIST}?start_time={LONG_AGO}"))["sessions"]
        single = await get("/api/observability/session/chat-1")
        [used] = (await get("/api/usage?from_day=2026-03-01"))["usage"]

    expected = {"total": 3_303, "prompt": 3_273, "completion": 30}
    costs = TURNS * (1_001 * 0.05 + 90 * 4 + 10 * 0.1) / 1_000_000
    for shown in (listed, single, used):
        tokens = shown["token_usage"]
        assert {name: tokens[name] for name in expected} == expected
    for shown in (listed, single):
        total = shown["cost_summary"]["total"]
        assert total == {"cost": pytest.approx(costs, rel=1e-12), "currency": "USD"}
        assert (shown["num_traces"], shown["num_traces_with_error"]) == (TURNS, 0)
    assert listed["cost_summary"] == single["cost_summary"]
    assert (used["cost"], used["turns"]) == (total["cost"], TURNS)
    turns = single["turns"]
    for name, amount in expected.items():
        assert sum(turn["token_usage"][name] for turn in turns) == amount
    summed = sum(turn["cost"] for turn in turns)
    assert summed == pytest.approx(total["cost"], rel=1e-12)
