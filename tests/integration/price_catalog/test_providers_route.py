"""Operation 5 over HTTP."""

import gzip
from typing import Any

import pytest

from tests.support.callers import Caller, Reply

PROVIDERS = "/api/llm-router/providers"
PRICES = "/api/llm-router/prices"


async def add(root: Caller, key: str = "acme", display_name: str = "Acme") -> Reply:
    return await root.post(PROVIDERS, {"key": key, "display_name": display_name})


async def put_price(root: Caller, **fields: Any) -> Reply:
    reply = await root.post(PRICES, {"provider": "acme", "model": "swift-1"} | fields)
    assert reply.status == 201, reply
    return reply


async def listed(caller: Caller, after: Reply, query: str = "") -> Reply:
    return await caller.get(
        PROVIDERS + query, X_Min_Position=after.headers["X-Event-Position"]
    )


async def test_every_field_is_there_and_every_digit(root: Caller) -> None:
    provider = await add(root)
    price = await put_price(
        root,
        input_price_per_1m="9999999999.1234567891",
        output_price_per_1m=0,
        effective_from="2026-01-01T00:00:00Z",
        notes="Half price at night.",
    )

    reply = await listed(root, price)

    assert (reply.status, reply.message) == (200, "providers with effective pricing")
    [entry] = reply.data
    assert list(entry) == ["provider", "display_name", "provider_id", "models"]
    assert entry["provider_id"] == provider.data["id"]
    [model] = entry["models"]
    assert b'"input_price_per_1m":9999999999.1234567891,' in reply.body
    expected = {
        "model": "swift-1",
        "pricing_available": True,
        "input_price_per_1m": 9999999999.1234567891,
        "output_price_per_1m": 0,
        "cache_creation_price_per_1m": None,
        "cache_read_price_per_1m": None,
        "currency": "USD",
        "effective_from": "2026-01-01T00:00:00Z",
        "effective_until": None,
        "notes": "Half price at night.",
        "contract": None,
    }
    assert (model, list(model)) == (expected, list(expected))


async def test_a_price_is_available_when_both_base_prices_are_known(
    root: Caller,
) -> None:
    await add(root)
    for model, prices in {
        "free": {"input_price_per_1m": 0, "output_price_per_1m": 0},
        "half": {"input_price_per_1m": 1},
        "unknown": {},
    }.items():
        last = await put_price(root, model=model, **prices)

    reply = await listed(root, last)

    models = reply.data[0]["models"]
    assert {each["model"]: each["pricing_available"] for each in models} == {
        "free": True,
        "half": False,
        "unknown": False,
    }
    assert models[0]["input_price_per_1m"] == 0
    assert models[2]["input_price_per_1m"] is None


async def test_providers_come_by_display_name_and_models_by_name(root: Caller) -> None:
    await add(root, "zeta", "Alpha")
    await add(root, "alpha", "Zeta")
    await add(root, "empty", "Nothing priced")
    for key in ("alpha", "zeta"):
        for model in ("b", "B", "a"):
            last = await put_price(root, provider=key, model=model)

    reply = await listed(root, last)

    assert [
        (each["provider"], [model["model"] for model in each["models"]])
        for each in reply.data
    ] == [("zeta", ["B", "a", "b"]), ("alpha", ["B", "a", "b"])]


async def test_what_was_known_then_stays_readable(root: Caller) -> None:
    await add(root)
    first = await put_price(
        root, input_price_per_1m=10, effective_from="2026-01-01T00:00:00Z"
    )
    path = f"/api/llm-router/models/{first.data['model_id']}/prices/2/corrections"
    corrected = await root.post(path, {"input_price_per_1m": 1})
    assert (corrected.status, corrected.message) == (201, "price corrected")

    now = await listed(root, corrected)
    by_position = await listed(root, corrected, f"?at={first.position}")
    before = await listed(root, corrected, f"?at={first.position - 2}")
    by_time = await listed(root, corrected, "?at=2026-01-01T00:00:00Z")

    assert now.data[0]["models"][0]["input_price_per_1m"] == 1
    assert by_position.data[0]["models"][0]["input_price_per_1m"] == 10
    assert before.data == by_time.data == []


@pytest.mark.parametrize("encoding", ["gzip", "identity", "gzip;q=0", "br, gzip;q=0.5"])
async def test_the_answer_is_gzipped_where_accepted(
    root: Caller, encoding: str
) -> None:
    await add(root)
    last = await put_price(root)
    plain = await listed(root, last)

    response = await root.client.get(
        PROVIDERS,
        headers={
            "Authorization": f"Bearer {root.token}",
            "Accept-Encoding": encoding,
        },
        auto_decompress=False,
    )

    body = await response.read()
    gzipped = encoding in {"gzip", "br, gzip;q=0.5"}
    assert (response.headers.get("Content-Encoding") == "gzip") == gzipped
    assert (gzip.decompress(body) if gzipped else body) == plain.body
    assert "Accept-Encoding" in response.headers["Vary"]


async def test_a_known_answer_is_not_sent_again(root: Caller) -> None:
    await add(root)
    last = await put_price(root)
    first = await listed(root, last)

    for given in (first.headers["ETag"], f'"other", W/{first.headers["ETag"]}', "*"):
        response = await root.client.get(
            PROVIDERS,
            headers={
                "Authorization": f"Bearer {root.token}",
                "If-None-Match": given,
            },
        )
        assert (response.status, await response.read()) == (304, b"")
        assert first.headers["ETag"].strip('"') in response.headers["ETag"]
    changed = await put_price(root, model="swift-2")
    again = await root.get(
        PROVIDERS,
        X_Min_Position=changed.headers["X-Event-Position"],
        If_None_Match=first.headers["ETag"],
    )
    assert again.status == 200
    assert again.headers["ETag"] != first.headers["ETag"]


@pytest.mark.parametrize(
    "query", ["?as_of=yesterday", "?at=-1", "?now=1", "?at=1&at=2", "?at=999999"]
)
async def test_bad_parameters_are_refused(root: Caller, query: str) -> None:
    assert (await root.get(PROVIDERS + query)).status == 400
