"""What a turn costs, to the last digit, or unknown."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from unittest.mock import ANY
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.price_catalog.charge import EXACT, Unpriced, amount_of
from service.price_catalog.price import Price, rates_of
from service.price_catalog.usage import CallUsage
from service.sessions.turn import TOKENS_MAX, TokenCounts
from tests.callers import Callers
from tests.sessions.recording import NOON, Recorder, at, turn


def price(
    input_price: str | None = "2.5",
    output_price: str | None = "10",
    cache_read: str | None = None,
    cache_creation: str | None = None,
) -> Price:
    def amount(text: str | None) -> Decimal | None:
        return None if text is None else Decimal(text)

    return Price(
        model_id=UUID(int=1),
        version=2,
        input_price_per_1m=amount(input_price),
        output_price_per_1m=amount(output_price),
        cache_creation_price_per_1m=amount(cache_creation),
        cache_read_price_per_1m=amount(cache_read),
        currency="USD",
        notes=None,
        effective_from=datetime(2026, 1, 1, tzinfo=UTC),
        effective_until=None,
        source={"name": "manual", "version": None, "sha256": None},
    )


def cost(tokens: TokenCounts, at_price: Price) -> Decimal | None:
    usage = CallUsage(
        input_tokens=tokens.prompt,
        output_tokens=tokens.completion,
        cache_read_tokens=tokens.cache_read,
        cache_write_tokens=tokens.cache_creation,
    )
    amount = amount_of(rates_of(at_price, NOON, {}), usage)
    return None if isinstance(amount, Unpriced) else amount


@pytest.mark.parametrize(
    ("tokens", "at_price", "expected"),
    [
        (TokenCounts(prompt=1_000_000, completion=0), price(), "2.5"),
        (TokenCounts(prompt=1, completion=1), price(), "0.0000125"),
        (TokenCounts(prompt=3, completion=0), price("0", None), "0"),
        (TokenCounts(prompt=3, completion=1), price("1", None), None),
        (TokenCounts(prompt=3, completion=1), price(None, "1"), None),
        (TokenCounts(prompt=3), price(), None),
        (TokenCounts(completion=3), price(), None),
        (TokenCounts(), price(), None),
        # Cached tokens are part of the prompt, and cost as much without a price of
        # their own.
        (TokenCounts(prompt=100, completion=0, cache_read=40), price(), "0.00025"),
        (
            TokenCounts(prompt=100, completion=0, cache_read=40, cache_creation=10),
            price("10", "0", "1", "12.5"),
            "0.000665",
        ),
        (TokenCounts(prompt=100, completion=0, cache_read=0), price("1"), "0.0001"),
    ],
)
def test_what_tokens_cost(
    tokens: TokenCounts, at_price: Price, expected: str | None
) -> None:
    amount = cost(tokens, at_price)

    assert (None if amount is None else format(amount, "f")) == expected


@given(
    st.integers(0, TOKENS_MAX),
    st.integers(0, TOKENS_MAX),
    st.decimals(0, 10**10, places=10, allow_nan=False),
    st.decimals(0, 10**10, places=10, allow_nan=False),
)
def test_costs_are_exact(
    prompt: int, completion: int, input_price: Decimal, output_price: Decimal
) -> None:
    amount = cost(
        TokenCounts(prompt=prompt, completion=completion),
        price(str(input_price), str(output_price)),
    )

    scaled = prompt * int(input_price.scaleb(10)) + completion * int(
        output_price.scaleb(10)
    )
    assert amount is not None
    assert int(amount.scaleb(16, EXACT)) == scaled


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
