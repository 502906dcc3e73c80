"""How the walks over all operations call those of the price catalog."""

import os
from collections.abc import Iterator
from typing import Final

from tests.support.operations.asks import LONG_TEXT, Ask, World, json_ask, query_ask
from tests.support.operations.declaration import WalkedOperations
from tests.support.operations.walk import Walk

ACCESS = """
                               stranger  auditor  runtime  manager  reader
    get_providers                   200      200      200      200     200
    get_prices                      200      200      200      200     200
    get_contracts                   200      200      200      200     200
    post_provider                   403      403      403      403     403
    post_price                      403      403      403      403     403
    post_price_end                  403      403      403      403     403
    post_price_correction           403      403      403      403     403
    post_contract                   403      403      403      403     403
    post_contract_end               403      403      403      403     403
    post_contract_correction        403      403      403      403     403
    post_genai_prices_import        403      403      403      403     403
    post_litellm_import             403      403      403      403     403
"""
PRICES = {
    "provider": "acme",
    "model": "swift-1",
    "input_price_per_1m": 2.5,
    "output_price_per_1m": 10,
    "effective_from": "2026-01-01T00:00:00Z",
}
LITELLM = {
    "swift-1": {
        "litellm_provider": "acme",
        "mode": "chat",
        "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1e-05,
    }
}
END = {"effective_until": "2030-06-01T00:00:00Z"}
# Models are imported in batches, so that more only take longer.
LITELLM_MODELS: Final = 20_000 if os.environ.get("WORST_INPUTS") == "full" else 1_000


async def make(walk: Walk) -> None:
    await walk.call("post_provider", {"key": "acme", "display_name": "Acme"})
    await _price(walk)
    await _contract(walk)


async def _price(walk: Walk) -> None:
    priced = (await walk.call("post_price", PRICES)).data
    walk.ids["model_id"] = priced["model_id"]
    walk.ids["price_version"] = priced["price"]["price_version"]
    await walk.call("get_providers")
    correction = {"input_price_per_1m": 2, "output_price_per_1m": 8}
    corrected = (await walk.call("post_price_correction", correction)).data
    walk.ids["price_version"] = corrected["price"]["price_version"]
    await walk.call("post_price_end", END)
    await walk.call("get_prices", query={"provider": "acme", "model": "swift-1"})
    await walk.call("post_litellm_import", LITELLM, query={"dry_run": "true"})


async def _contract(walk: Walk) -> None:
    terms = {"discount_percent": 12.5, "output_price_per_1m": 7.5}
    of_model = {"provider": "acme", "model": "swift-1", **terms}
    since = {"effective_from": "2026-01-01T00:00:00Z"}
    made = (await walk.call("post_contract", {**of_model, **since})).data
    walk.ids["provider_id"] = made["provider_id"]
    corrected = await walk.call(
        "post_contract_correction",
        {**terms, "discount_percent": 15},
        price_version=made["price"]["price_version"],
    )
    version = corrected.data["price"]["price_version"]
    await walk.call("post_contract_end", END, price_version=version)
    await walk.call("get_contracts", query={"provider": "acme"})


def _litellm(_world: World) -> Iterator[Ask]:
    entry = {
        "litellm_provider": "openai",
        "mode": "chat",
        "input_cost_per_token": 2.5e-06,
        "output_cost_per_token": 1e-05,
    }
    for what, document in {
        "many models": {f"model-{n}": entry for n in range(LITELLM_MODELS)},
        "long names": {f"{'m' * 240}{n}": entry for n in range(LITELLM_MODELS)},
        "changed prices": {
            f"model-{n}": {**entry, "input_cost_per_token": 9e-06}
            for n in range(LITELLM_MODELS)
        },
        "many providers": {
            f"m{n}": {**entry, "litellm_provider": f"p{n}"}
            for n in range(LITELLM_MODELS // 4)
        },
        "wrong prices": {
            f"w{n}": {**entry, "input_cost_per_token": -1}
            for n in range(LITELLM_MODELS)
        },
    }.items():
        for query in ("dry_run=true", "confirm=all"):
            yield json_ask(f"{what}, {query}", document, query)
    yield json_ask("brackets", b"[" * 16_000_000)
    yield json_ask("numbers", b"[" + b"1," * 8_000_000 + b"1]")
    yield json_ask("as many numbers as may be", b"[" + b"1," * 1_400_000 + b"1]")
    objects = b"[" + b'{"\xc3\xa4":1},' * 290_000 + b'"' + LONG_TEXT.encode() * 210
    yield json_ask("as many objects as may be", objects + b'"]')


def _genai(_world: World) -> Iterator[Ask]:
    yield query_ask("everything", confirm="all")


def _providers(_world: World) -> Iterator[Ask]:
    yield query_ask("another time", as_of="2026-02-01T00:00:00Z")
    yield Ask(what="many encodings", headers={"Accept-Encoding": "gzip," * 1500})
    yield Ask(what="many tags", headers={"If-None-Match": '"a",' * 1900})


def _prices(_world: World) -> Iterator[Ask]:
    yield query_ask("a whole page", provider="acme", model="swift-1", limit=500)


def _contracts(_world: World) -> Iterator[Ask]:
    yield query_ask("all ever recorded", history="true", limit=500)


OPERATIONS = WalkedOperations(
    after=("users",),
    make=make,
    access=ACCESS,
    worst={
        "get_contracts": _contracts,
        "get_prices": _prices,
        "get_providers": _providers,
        "post_genai_prices_import": _genai,
        "post_litellm_import": _litellm,
    },
    simple=frozenset(
        [
            "post_contract",
            "post_contract_correction",
            "post_contract_end",
            "post_price",
            "post_price_correction",
            "post_price_end",
            "post_provider",
        ]
    ),
)
