"""Importing whole price lists: by API and by function, once, twice and confirmed."""

import asyncio
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from service.price_catalog.imports.open_price_list import open_price_list
from service.price_catalog.imports.price_list import Import
from service.price_catalog.imports.run import import_prices
from service.resources import Resources
from tests.support.callers import Caller, Reply

PROVIDERS = "/api/llm-router/providers"
PRICES = "/api/llm-router/prices"
LITELLM = f"{PRICES}/imports/litellm"
GENAI = f"{PRICES}/imports/genai-prices"
FIELDS = (
    "input_price_per_1m",
    "output_price_per_1m",
    "cache_creation_price_per_1m",
    "cache_read_price_per_1m",
)


def entry(cost: float, **others: Any) -> dict[str, Any]:
    return {
        "litellm_provider": "acme",
        "mode": "chat",
        "input_cost_per_token": cost,
        "output_cost_per_token": cost,
        **others,
    }


async def put_list(root: Caller, query: str = "", **models: dict[str, Any]) -> Reply:
    reply = await root.post(LITELLM + query, json.dumps(models).encode())
    assert reply.status == 200, reply
    return reply


def counted(reply: Reply) -> dict[str, int]:
    return {name: count for name, count in reply.data["counts"].items() if count}


async def test_a_dry_run_shows_the_difference_and_changes_nothing(
    root: Caller, resources: Resources
) -> None:
    before = await resources.log.head()
    reply = await put_list(root, "?dry_run=true&version=v1", swift=entry(2.5e-6))

    assert await resources.log.head() == before
    assert "X-Event-Position" not in reply.headers
    assert reply.message == "prices compared"
    assert reply.data["source"]["version"] == "v1"
    [difference] = reply.data["differences"]
    assert difference["outcome"] == "added"
    [change] = difference["changes"]
    assert change["before"] is None
    assert change["after"]["input_price_per_1m"] == 2.5


async def test_each_model_has_its_fate_and_its_reason(root: Caller) -> None:
    await put_list(
        root,
        same=entry(1e-6),
        cheaper=entry(2e-6),
        leap=entry(1e-6),
        manual=entry(1e-6),
    )
    await root.post(
        PRICES, {"provider": "acme", "model": "manual", "input_price_per_1m": 7}
    )
    changed: Any = {
        "same": entry(1e-6),
        "cheaper": entry(1e-6),
        "leap": entry(6e-6),
        "manual": entry(1e-6),
        "zero": entry(0),
        "new": entry(1e-6),
        "picture": entry(1e-6, mode="image_generation"),
    }

    reply = await put_list(root, **changed)

    fates = {
        each["model"]: (
            each["outcome"],
            [reason["code"] for reason in each["held_because"]],
        )
        for each in reply.data["differences"]
    }
    assert fates == {
        "cheaper": ("changed", []),
        "leap": ("held", ["suspicious_change"]),
        "manual": ("held", ["manual_price"]),
        "zero": ("held", ["zero_price"]),
        "new": ("added", []),
        "picture": ("added", []),
    }
    assert reply.data["skipped"] == []
    again = await put_list(root, "?confirm=acme%2Fleap", **changed)
    assert counted(again) == {"changed": 1, "unchanged": 4, "held": 2}
    everything = await put_list(root, "?confirm=all", **changed)
    assert counted(everything) == {"added": 1, "unchanged": 5, "held": 1}


async def test_a_vanished_model_is_reported_and_keeps_its_price(root: Caller) -> None:
    first = await put_list(root, swift=entry(1e-6), gone=entry(1e-6))
    await root.get(PROVIDERS, X_Min_Position=str(first.position))

    reply = await put_list(root, swift=entry(1e-6))

    assert reply.data["vanished"] == ["acme/gone"]
    listed = await root.get(PROVIDERS)
    assert [each["model"] for each in listed.data[0]["models"]] == ["gone", "swift"]


async def test_a_refused_row_has_not_vanished(root: Caller) -> None:
    first = await put_list(root, swift=entry(1e-6), other=entry(1e-6))
    await root.get(PROVIDERS, X_Min_Position=str(first.position))

    refused = entry(1e-6, input_cost_per_token="free")
    reply = await put_list(root, swift=refused, other=entry(1e-6))

    [skipped] = reply.data["skipped"]
    assert (skipped["code"], skipped["is_invalid"]) == ("invalid_price", True)
    assert reply.data["vanished"] == []


async def test_what_makes_usual_calls_dearer_is_held_until_it_is_confirmed(
    root: Caller,
) -> None:
    # given
    await put_list(
        root,
        cached=entry(1e-6, cache_read_input_token_cost=1e-7),
        tiered=entry(1e-6),
    )
    changed: Any = {
        "cached": entry(1e-6),
        "tiered": entry(1e-6, input_cost_per_token_above_1k_tokens=1e-4),
        "absurd": entry(3),
    }

    # when
    reply = await put_list(root, **changed)

    # then
    assert {
        each["model"]: [reason["code"] for reason in each["held_because"]]
        for each in reply.data["differences"]
    } == {
        "cached": ["suspicious_change"],
        "tiered": ["suspicious_change"],
        "absurd": ["absurd_price"],
    }
    doubts = {
        each["model"]: each["changes"][0]["doubt"] for each in reply.data["differences"]
    }
    assert doubts == {
        "cached": {
            "subject": "price of 1,000,000 cache_read_tokens",
            "condition": "",
            "before": 0.1,
            "after": None,
        },
        "tiered": {
            "subject": "cost of 10,000 input_tokens, 300 output_tokens, "
            "8,000 cache_read_tokens, 1,000 cache_write_tokens",
            "condition": "",
            "before": 0.0103,
            "after": 1.0003,
        },
        "absurd": {
            "subject": "cost of 1,000 input_tokens, 300 output_tokens",
            "condition": "",
            "before": None,
            "after": 3900,
        },
    }
    everything = await put_list(root, "?confirm=all", **changed)
    assert counted(everything) == {"added": 1, "changed": 2}


async def test_confirmed_names_may_have_spaces_and_those_in_vain_are_told(
    root: Caller,
) -> None:
    # given
    models: Any = {"zero": entry(0), "free": entry(0), "swift": entry(1e-6)}
    query = "?confirm=acme/zero,%20acme/free%20,acme/swift,ALL,acme/zreo"

    # when
    reply = await put_list(root, query, **models)

    # then
    assert counted(reply) == {"added": 3}
    assert reply.data["not_held"] == ["ALL", "acme/swift", "acme/zreo"]
    everything = await put_list(root, "?confirm=all", **models)
    assert everything.data["not_held"] == []


async def test_a_confirmed_price_that_stays_manual_is_held(root: Caller) -> None:
    await put_list(root, manual=entry(1e-6))
    await root.post(
        PRICES, {"provider": "acme", "model": "manual", "input_price_per_1m": 7}
    )

    reply = await put_list(root, "?confirm=acme/manual", manual=entry(1e-6))

    assert counted(reply) == {"held": 1}
    assert reply.data["not_held"] == []


async def test_what_is_no_price_list_is_refused(root: Caller) -> None:
    assert (await root.post(LITELLM, b"{}")).status == 422
    assert (await root.post(LITELLM, b"not json")).status == 422
    typed = await root.post(LITELLM, b"{}", Content_Type="text/plain")
    assert typed.status == 415
    large = await root.post(LITELLM, b"{}" + b" " * (16 * 1024 * 1024))
    assert large.status == 413


async def exactly_as_listed(
    root: Caller, source: Import, position: int
) -> dict[tuple[str, str], Any]:
    """Compare operation 5 with a list, digit by digit; return what it answers."""
    reply = await root.get(PROVIDERS, X_Min_Position=str(position))
    answered = {
        (provider["provider"], model["model"]): model
        for provider in json.loads(reply.body, parse_float=Decimal)["data"]
        for model in provider["models"]
    }
    for model in source.models:
        found = answered[model.provider, model.model]
        current = next(
            each
            for each in reversed(model.periods)
            if each.effective_from is None
            or each.effective_from.isoformat().replace("+00:00", "Z")
            <= found["effective_from"]
        )
        assert [found[name] for name in FIELDS] == list(current.prices)
        assert found["pricing_available"] == (None not in current.prices[:2])
        assert found["notes"] == current.notes
    return answered


async def test_genai_prices_in_full_by_the_api(root: Caller) -> None:
    source = await asyncio.to_thread(import_genai_prices)
    periods = sum(len(each.periods) for each in source.models)

    first = await root.post(GENAI)
    again = await root.post(GENAI)

    assert counted(first)["added"] == len(source.models)
    assert counted(again)["unchanged"] == len(source.models)
    assert "X-Event-Position" not in again.headers
    providers = len({each.provider for each in source.models})
    # One event for the rules of each provider, and one for their list. Before all
    # stand the superuser and the token.
    rules = 1 + len(source.rules)
    assert first.position == 3 + providers + len(source.models) + periods + rules
    answered = await exactly_as_listed(root, source, first.position)
    assert len(answered) == len(source.models)


async def test_a_function_imports_for_the_command_line(
    resources: Resources, tmp_path: Path
) -> None:
    file = tmp_path / "prices.json"
    models = {f"m{number}": entry(1e-6) for number in range(450)}
    await asyncio.to_thread(file.write_text, json.dumps(models))
    source = await open_price_list(str(file), version="v2")
    heard: list[tuple[int, int]] = []

    report = await import_prices(
        resources, source, progress=lambda done, total: heard.append((done, total))
    )

    assert heard == [(200, 450), (400, 450), (450, 450)]
    assert report.counts["added"] == 450
    assert report.position == 1 + 2 * 450
