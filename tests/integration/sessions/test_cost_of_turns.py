"""A turn and a session cost what their prices were then."""

from typing import Any
from unittest.mock import ANY

from tests.support.callers import Callers
from tests.support.sessions.recording import Recorder, at, turn


async def test_a_turn_is_priced_at_its_own_time(
    recorder: Recorder, callers: Callers
) -> None:
    root = await callers.user("root", "superuser")
    await root.post("/api/llm-router/providers", {"key": "acme", "display_name": "A"})
    for start, input_price in ((0, "1.10"), (100, "2.20")):
        reply = await root.post(
            "/api/llm-router/prices",
            {
                "provider": "acme",
                "model": "swift",
                "input_price_per_1m": input_price,
                "output_price_per_1m": "0",
                "effective_from": at(start),
            },
        )
        assert reply.status == 201, reply.data
    spent: Any = {
        "provider": "acme",
        "model": "swift",
        "prompt_tokens": 1,
        "completion_tokens": 1,
    }
    await recorder.start("chat-1")
    await recorder.turn("chat-1", turn("t1", 100, **spent))
    await recorder.turn("chat-1", turn("t2", 99.999999, **spent))

    [row] = (reply := await recorder.list()).data["sessions"]

    assert row["cost_summary"] == {
        "total": {"cost": 0.0000033, "currency": "USD"},
        "traces_without_price": 0,
        "unpriced": [],
        "first_priced_at": ANY,
        "last_priced_at": ANY,
        "list_total": {"cost": 0.0000033, "currency": "USD"},
        "reported": {"cost": None, "traces": 0},
    }
    assert b'"cost":0.0000033,' in reply.body

    # Before the first price nothing is known, so neither is the sum.
    await recorder.turn("chat-1", turn("t3", -1, **spent))

    [row] = (await recorder.list()).data["sessions"]
    assert row["cost_summary"] == {
        "total": {"cost": None, "currency": None},
        "traces_without_price": 1,
        "unpriced": ["no_price_then"],
        "first_priced_at": ANY,
        "last_priced_at": ANY,
        "list_total": {"cost": None, "currency": None},
        "reported": {"cost": None, "traces": 0},
    }


async def test_a_session_with_prices_in_two_currencies_says_why_it_has_no_cost(
    recorder: Recorder, callers: Callers
) -> None:
    root = await callers.user("root", "superuser")
    await root.post("/api/llm-router/providers", {"key": "acme", "display_name": "A"})
    for model, currency in (("swift", "USD"), ("slow", "EUR")):
        reply = await root.post(
            "/api/llm-router/prices",
            {
                "provider": "acme",
                "model": model,
                "currency": currency,
                "input_price_per_1m": "1",
                "output_price_per_1m": "0",
                "effective_from": at(0),
            },
        )
        assert reply.status == 201, reply.data
    await recorder.start("chat-1")

    async def summary_with(turn_id: str, model: str) -> Any:
        spent: Any = {"prompt_tokens": 1, "completion_tokens": 0}
        body = turn(turn_id, 1, provider="acme", model=model, **spent)
        await recorder.turn("chat-1", body)
        [row] = (await recorder.list()).data["sessions"]
        summary = row["cost_summary"]
        cost = summary["total"]["cost"]
        return cost, summary["traces_without_price"], summary["unpriced"]

    assert await summary_with("t1", "swift") == (0.000001, 0, [])
    assert await summary_with("t2", "slow") == (None, 0, ["several_currencies"])
    assert await summary_with("t3", "unheard of") == (
        None,
        1,
        ["no_such_model", "several_currencies"],
    )
