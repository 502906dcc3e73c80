"""A turn and a session cost what their prices were then."""

from typing import Any
from unittest.mock import ANY

from tests.support.callers import Caller
from tests.support.sessions.pricing import set_price
from tests.support.sessions.recording import Recorder, at, turn


async def test_a_turn_is_priced_at_its_own_time(
    recorder: Recorder, root: Caller
) -> None:
    await set_price(root, "swift", "1.10", since=at(0))
    await set_price(root, "swift", "2.20", since=at(100))
    spent: Any = {
        "provider": "acme",
        "model": "swift",
        "prompt_tokens": 1,
        "completion_tokens": 1,
    }
    await recorder.record(
        "chat-1", turn("t1", 100, **spent), turn("t2", 99.999999, **spent)
    )

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
    recorder: Recorder, root: Caller
) -> None:
    await set_price(root, "swift", 1)
    await set_price(root, "slow", 1, currency="EUR")
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
