"""Setting, ending and correcting contract prices over HTTP, and their history."""

from typing import Any

import pytest

from service.resources import Resources
from tests.integration.price_catalog.conftest import in_pages
from tests.support.callers import Caller, Reply
from tests.support.rebuilding import expect_rebuild_equals_live

CONTRACTS = "/api/llm-router/contracts"
PROVIDERS = "/api/llm-router/providers"
SINCE = {"effective_from": "2026-01-01T00:00:00Z"}
OF_SWIFT = {"provider": "acme", "model": "swift", **SINCE}


@pytest.fixture
async def acme(root: Caller) -> Reply:
    await root.post(PROVIDERS, {"key": "acme", "display_name": "Acme"})
    return await root.post(
        "/api/llm-router/prices",
        {**OF_SWIFT, "input_price_per_1m": 2, "output_price_per_1m": 8},
    )


async def made(root: Caller, **body: Any) -> Reply:
    reply = await root.post(CONTRACTS, body)
    assert (reply.status, reply.message) == (201, "contract price set"), reply.data
    return reply


def of_contract(reply: Reply, verb: str) -> str:
    version = reply.data["price"]["price_version"]
    return f"{CONTRACTS}/{reply.data['provider_id']}/prices/{version}/{verb}"


async def contracts(reader: Caller, after: Reply, query: str = "") -> list[Any]:
    reply = await reader.get(CONTRACTS + query, X_Min_Position=str(after.position))
    assert reply.status == 200, reply.data
    found: list[Any] = reply.data["prices"]
    return found


async def entry(reader: Caller, after: Reply, query: str = "") -> Any:
    reply = await reader.get(PROVIDERS + query, X_Min_Position=str(after.position))
    assert reply.status == 200, reply.data
    return reply.data[0]["models"][0]


async def test_a_contract_is_set_and_answered(root: Caller, acme: Reply) -> None:
    reply = await made(
        root, **OF_SWIFT, discount_percent=12.5, output_price_per_1m=7.25, notes="2026"
    )

    assert reply.headers["ETag"] == '"2"'
    assert reply.headers["Location"] == f"{CONTRACTS}?provider=acme"
    assert (reply.data["provider"], reply.data["model"]) == ("acme", "swift")
    assert reply.data["price"] == {
        "price_version": 2,
        "discount_percent": 12.5,
        "input_price_per_1m": None,
        "output_price_per_1m": 7.25,
        "cache_creation_price_per_1m": None,
        "cache_read_price_per_1m": None,
        "currency": "USD",
        "effective_from": "2026-01-01T00:00:00Z",
        "effective_until": None,
        "notes": "2026",
        "structure": None,
    }


async def test_the_same_again_changes_nothing(root: Caller, acme: Reply) -> None:
    terms = {**OF_SWIFT, "discount_percent": "12.50"}
    await made(root, **terms)

    again = await root.post(CONTRACTS, terms | {"discount_percent": 12.5})

    assert (again.status, again.message) == (200, "contract price was already set")
    assert "X-Event-Position" not in again.headers


@pytest.mark.parametrize(
    "body",
    [
        {"model": "swift"},
        {"input_price_per_1m": 1},
        {"discount_percent": -1},
        {"discount_percent": 100.1},
        {"discount_percent": 10, "effective_until": "2025-12-31T00:00:00Z"},
    ],
    ids=["nothing", "a price for all", "a surcharge", "above 100", "no time"],
)
async def test_terms_that_mean_nothing_are_refused(
    root: Caller, acme: Reply, body: dict[str, Any]
) -> None:
    reply = await root.post(CONTRACTS, {"provider": "acme", **SINCE, **body})

    assert reply.status == 422
    assert await contracts(root, acme) == []


async def test_only_what_is_listed_has_a_contract(root: Caller, acme: Reply) -> None:
    off: Any = {"discount_percent": 5}
    model = await root.post(CONTRACTS, {"provider": "acme", "model": "swfit", **off})
    provider = await root.post(CONTRACTS, {"provider": "acne", **off})

    assert (model.status, provider.status) == (404, 404)


async def test_an_overlap_names_the_period(root: Caller, acme: Reply) -> None:
    await made(root, **OF_SWIFT, discount_percent=5)
    reply = await root.post(CONTRACTS, {**OF_SWIFT, "discount_percent": 6})
    assert (reply.status, reply.code) == (409, "price_overlap")
    assert "price 2 [2026-01-01T00:00:00" in reply.message


async def test_corrections_and_ends_are_known_by_two_times(
    root: Caller, acme: Reply, resources: Resources
) -> None:
    first = await made(root, **OF_SWIFT, discount_percent=5)
    await made(root, provider="acme", **SINCE, discount_percent=1)
    corrected = await root.post(
        of_contract(first, "corrections"),
        {
            "discount_percent": 7,
            "effective_from": "2026-02-01T00:00:00Z",
            "effective_until": "2026-03-01T00:00:00Z",
        },
    )
    assert (corrected.status, corrected.message) == (201, "contract price corrected")
    ended = await root.post(
        of_contract(first, "end"), {"effective_until": "2026-06-01T00:00:00Z"}
    )
    assert (ended.status, ended.message) == (200, "contract price ended")

    now = await contracts(root, ended, "?model=swift")
    before = await contracts(root, ended, f"?model=swift&at={first.position}")
    ever = await contracts(root, ended, "?history=true")

    assert [
        (row["discount_percent"], row["effective_from"][5:7], row["effective_until"])
        for row in sorted(now, key=lambda row: row["effective_from"])
    ] == [
        (5, "01", "2026-02-01T00:00:00Z"),
        (7, "02", "2026-03-01T00:00:00Z"),
        (5, "03", "2026-06-01T00:00:00Z"),
    ]
    assert [(row["discount_percent"], row["effective_until"]) for row in before] == [
        (5, None)
    ]
    assert len(ever) == 6
    assert await in_pages(root, f"{CONTRACTS}?history=true&limit=2") == ever
    await expect_rebuild_equals_live(resources, "provider_catalog")


async def test_a_withdrawn_contract_leaves_no_period(root: Caller, acme: Reply) -> None:
    future = await made(
        root,
        provider="acme",
        effective_from="2099-01-01T00:00:00Z",
        discount_percent=5,
    )
    withdrawn = await root.post(
        of_contract(future, "end"), {"effective_until": "2099-01-01T00:00:00Z"}
    )

    assert withdrawn.data["price"] is None
    assert await contracts(root, withdrawn) == []
    gone = await root.post(of_contract(future, "end"), {})
    assert gone.status == 404


async def test_a_stale_version_is_refused(root: Caller, acme: Reply) -> None:
    reply = await root.post(
        CONTRACTS, {**OF_SWIFT, "discount_percent": 5}, If_Match='"7"'
    )
    assert reply.status == 412


async def test_the_provider_list_shows_the_effective_prices(
    root: Caller, acme: Reply
) -> None:
    before = await entry(root, acme)
    set_ = await made(
        root,
        provider="acme",
        discount_percent=10,
        effective_from="2026-02-01T00:00:00Z",
        effective_until="2099-01-01T00:00:00Z",
    )
    by_discount = await entry(root, set_)
    own = await made(
        root, **OF_SWIFT, output_price_per_1m=6, effective_until="2098-01-01T00:00:00Z"
    )
    fixed = await entry(root, own)
    later = await entry(root, own, "?as_of=2098-06-01T00:00:00Z")
    earlier = await entry(root, own, "?as_of=2026-01-15T00:00:00Z")

    assert before["contract"] is None
    assert (before["input_price_per_1m"], before["output_price_per_1m"]) == (2, 8)
    assert {**fixed, "contract": None} == before
    assert by_discount["contract"] == {
        "price_version": 2,
        "discount_percent": 10,
        "input_price_per_1m": 1.8,
        "output_price_per_1m": 7.2,
        "cache_creation_price_per_1m": None,
        "cache_read_price_per_1m": None,
        "currency": "USD",
        "effective_from": "2026-02-01T00:00:00Z",
        "effective_until": "2099-01-01T00:00:00Z",
    }
    assert fixed["contract"]["price_version"] == 3
    assert fixed["contract"]["input_price_per_1m"] == 1.8
    assert fixed["contract"]["output_price_per_1m"] == 6
    assert later["contract"] == by_discount["contract"]
    assert earlier["contract"]["input_price_per_1m"] == 2
