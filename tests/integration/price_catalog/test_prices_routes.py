"""Setting, ending and correcting prices over HTTP, and a model's history."""

from typing import Any

import pytest

from service.resources import Resources
from tests.integration.price_catalog.conftest import in_pages
from tests.support.callers import Caller, Reply
from tests.support.rebuilding import expect_rebuild_equals_live

PROVIDERS = "/api/llm-router/providers"
PRICES = "/api/llm-router/prices"
OF_SWIFT = f"{PRICES}?provider=acme&model=swift%2F1"
PRICE = {
    "provider": "acme",
    "model": "swift/1",
    "input_price_per_1m": 2.5,
    "output_price_per_1m": 10,
    "effective_from": "2026-01-01T00:00:00Z",
}


@pytest.fixture
async def first(root: Caller) -> Reply:
    """A price since the first of January 2026."""
    added = await root.post(PROVIDERS, {"key": "acme", "display_name": "Acme"})
    assert (added.status, added.message) == (201, "provider added")
    return await root.post(PRICES, PRICE)


def of_price(first: Reply, verb: str, version: int = 2) -> str:
    model_id = first.data["model_id"]
    return f"/api/llm-router/models/{model_id}/prices/{version}/{verb}"


async def history(root: Caller, after: Reply, query: str = "") -> Reply:
    reply = await root.get(OF_SWIFT + query, X_Min_Position=str(after.position))
    assert reply.status == 200
    return reply


async def test_a_price_is_set_and_answered(first: Reply) -> None:
    assert (first.status, first.message) == (201, "price set")
    assert first.headers["ETag"] == '"2"'
    assert first.headers["Location"] == OF_SWIFT
    assert first.data["version"] == 2
    assert first.data["price"] == {
        "price_version": 2,
        "input_price_per_1m": 2.5,
        "output_price_per_1m": 10,
        "cache_creation_price_per_1m": None,
        "cache_read_price_per_1m": None,
        "currency": "USD",
        "effective_from": "2026-01-01T00:00:00Z",
        "effective_until": None,
        "notes": None,
        "structure": None,
        "source": {"name": "manual", "version": None, "sha256": None},
    }


async def test_saying_the_same_again_is_200_without_a_position(
    root: Caller, first: Reply
) -> None:
    again = await root.post(PRICES, PRICE)
    assert (again.status, again.message) == (200, "price was already set")
    provider = await root.post(PROVIDERS, {"key": "acme", "display_name": "Acme"})
    assert (provider.status, provider.message) == (200, "provider was already added")
    for reply in (again, provider):
        assert "X-Event-Position" not in reply.headers


async def test_an_overlap_names_the_period(root: Caller, first: Reply) -> None:
    reply = await root.post(PRICES, PRICE | {"input_price_per_1m": 3})
    assert (reply.status, reply.code) == (409, "price_overlap")
    assert "price 2 [2026-01-01T00:00:00" in reply.message


async def test_a_price_ends_and_a_future_one_is_withdrawn(
    root: Caller, first: Reply
) -> None:
    future = await root.post(
        PRICES, PRICE | {"effective_from": "2099-01-01T00:00:00Z", "notes": "Then."}
    )
    withdrawn = await root.post(
        of_price(first, "end", 3), {"effective_until": "2099-01-01T00:00:00Z"}
    )
    ended = await root.post(of_price(first, "end"), {})
    again = await root.post(
        of_price(first, "end"),
        {"effective_until": ended.data["price"]["effective_until"]},
    )

    assert future.status == 201
    assert (withdrawn.status, withdrawn.data["price"]) == (200, None)
    assert (ended.status, ended.message) == (200, "price ended")
    assert again.message == "price had this end already"
    assert ended.data["price"]["effective_until"] < "2099"


async def test_history_tells_what_was_known_when(root: Caller, first: Reply) -> None:
    corrected = await root.post(
        of_price(first, "corrections"),
        {"input_price_per_1m": "2", "effective_until": "2026-02-01T00:00:00Z"},
    )
    assert (corrected.status, corrected.message) == (201, "price corrected")

    everything = await history(root, corrected)
    then = await history(root, corrected, f"&at={first.position}")
    now = await history(root, corrected, f"&at={corrected.position}")

    def told(reply: Reply) -> list[tuple[Any, ...]]:
        return [
            (
                each["price_version"],
                each["input_price_per_1m"],
                each["effective_from"][:10],
                (each["effective_until"] or "open")[:10],
                each["known_from"],
                each["known_until"],
            )
            for each in reply.data["prices"]
        ]

    said, later = first.position, corrected.position
    assert told(then) == [(2, 2.5, "2026-01-01", "open", said, later)]
    assert told(now) == [
        (3, 2, "2026-01-01", "2026-02-01", later, None),
        (2, 2.5, "2026-02-01", "open", later, None),
    ]
    assert told(everything) == told(then) + told(now)
    assert everything.data["model"] == "swift/1"
    assert everything.data["provider"] == "acme"
    assert everything.data["version"] == 3


async def test_history_comes_in_pages(root: Caller, first: Reply) -> None:
    corrected = await root.post(
        of_price(first, "corrections"),
        {"input_price_per_1m": 2, "effective_until": "2026-02-01T00:00:00Z"},
    )
    whole = (await history(root, corrected)).data["prices"]

    assert await in_pages(root, f"{OF_SWIFT}&limit=1") == whole


@pytest.mark.parametrize(
    ("changed", "field"),
    [
        ({"input_price_per_1m": -1}, "input_price_per_1m"),
        ({"input_price_per_1m": True}, "input_price_per_1m"),
        ({"input_price_per_1m": "NaN"}, "input_price_per_1m"),
        ({"input_price_per_1m": 1e10}, "input_price_per_1m"),
        ({"input_price_per_1m": "0.00000000001"}, "input_price_per_1m"),
        ({"model": " swift"}, "model"),
        ({"model": ""}, "model"),
        ({"model": 1.5}, "model"),
        ({"provider": "Acme"}, "provider"),
        ({"notes": "\u0007"}, "notes"),
        ({"effective_from": "tomorrow"}, "effective_from"),
        ({"price": 1}, "price"),
    ],
)
async def test_a_bad_price_is_refused_with_its_place(
    root: Caller, changed: dict[str, Any], field: str
) -> None:
    reply = await root.post(PRICES, PRICE | changed)
    assert reply.status == 422
    assert [each["path"].split(".")[0] for each in reply.data["errors"]] == [field]


async def test_every_digit_of_a_number_counts(root: Caller, first: Reply) -> None:
    body = (
        b'{"provider":"acme","model":"exact",'
        b'"input_price_per_1m":9999999999.1000000001,"output_price_per_1m":1e-10}'
    )
    set_price = await root.post(PRICES, body)
    reply = await root.get(
        f"{PRICES}?provider=acme&model=exact",
        X_Min_Position=str(set_price.position),
    )
    for answer in (set_price, reply):
        assert b'"input_price_per_1m":9999999999.1000000001,' in answer.body
        assert b'"output_price_per_1m":0.0000000001,' in answer.body


async def test_a_number_with_more_places_than_a_price_has_is_refused(
    root: Caller, first: Reply
) -> None:
    body = b'{"provider":"acme","model":"m","input_price_per_1m":0.30000000000000001}'
    assert (await root.post(PRICES, body)).status == 422


async def test_what_does_not_exist_is_404(root: Caller, first: Reply) -> None:
    assert (await root.get(f"{PRICES}?provider=acme&model=no")).status == 404
    assert (await root.post(of_price(first, "end", 9), {})).status == 404
    assert (await root.post(PRICES, PRICE | {"provider": "nobody"})).status == 404


@pytest.mark.parametrize(
    "query", ["", "?provider=acme", "?provider=a&model=b&after=1", "?limit=0"]
)
async def test_bad_history_parameters_are_refused(root: Caller, query: str) -> None:
    assert (await root.get(PRICES + query)).status == 400


async def test_a_rebuild_equals_what_was_followed_live(
    root: Caller, first: Reply, resources: Resources
) -> None:
    await root.post(
        of_price(first, "corrections"),
        {"input_price_per_1m": 2, "effective_until": "2026-02-01T00:00:00Z"},
    )
    await root.post(of_price(first, "end"), {})
    contract = await root.post(
        "/api/llm-router/contracts",
        {
            "provider": "acme",
            "discount_percent": 5,
            "effective_from": "2026-01-01T00:00:00Z",
        },
    )
    assert contract.status == 201
    await expect_rebuild_equals_live(resources, "provider_catalog")
