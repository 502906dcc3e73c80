"""Our costs against ``calc_price`` of genai-prices, over all names that it resolves."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from itertools import product
from typing import Any

from genai_prices import Usage as TheirUsage
from genai_prices.data import providers
from genai_prices.data_snapshot import DataSnapshot
from genai_prices.types import (
    ModelInfo,
    ModelPrice,
    StartDateConstraint,
    TieredPrices,
    TimeOfDateConstraint,
)
from genai_prices.units import _get_registry

from service.price_catalog.charge import Unpriced
from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from service.price_catalog.pricing import price_call
from service.price_catalog.usage import ModelCallUsage
from service.sessions.recorded_calls import OWN_COUNTS
from tests.instruments.costs.agreement import Agreement
from tests.instruments.costs.catalog import ImportedCatalog

# Before and after price changes, on workdays and at a weekend, at hours of all windows.
TIMES = tuple(
    datetime.fromisoformat(text).replace(tzinfo=UTC)
    for text in (
        "2024-06-03T12:00:00",
        "2026-05-06T02:30:00",
        "2026-11-19T17:00:00",
    )
)
USAGES: tuple[Mapping[str, int], ...] = (
    {"input_tokens": 1_234, "output_tokens": 567},
    {"input_tokens": 9_876, "output_tokens": 543, "cache_read_tokens": 4_321},
    {
        "input_tokens": 30_011,
        "output_tokens": 3,
        "cache_read_tokens": 10_007,
        "cache_write_tokens": 9_001,
        "cache_write_1h_tokens": 4_003,
    },
    {"input_tokens": 250_003, "output_tokens": 1_999, "cache_read_tokens": 50_021},
    {"input_tokens": 600_011, "output_tokens": 7, "cache_write_tokens": 17},
)
# For a part of the names: they vary by price, not by name.
MORE_USAGES: tuple[Mapping[str, int], ...] = (
    {"input_tokens": 5_003, "output_tokens": 701, "input_audio_tokens": 2_003},
    {"input_tokens": 5_003, "output_tokens": 701, "output_reasoning_tokens": 301},
    {"input_tokens": 5_003, "output_tokens": 0, "input_image_tokens": 907},
)
CONDITIONS: tuple[Mapping[str, str], ...] = (
    {},
    {"processing": "batch"},
    {"service_tier": "priority"},
    {"service_tier": "flex"},
)

_REGISTRY = _get_registry()
# Amount of each unit other than tokens that a model has a price for.
OTHERS = 7
MINIMUM_S = 10

NO_PRICE = "genai-prices has no price, which it computes as 0; here it is unknown"
EARLIER = (
    "genai-prices applies daily hours that it lists after a dated price also before "
    "that date; here they hold from that date on"
)
MINIMUM = (
    "genai-prices charges Groq's Whisper for at least 10 seconds, by a rule in its "
    "code that its prices don't tell"
)


@dataclass(frozen=True, slots=True)
class Name:
    provider: str
    model: str


def own_names() -> Iterator[Name]:
    """Yield ids, and the texts that the clauses test."""
    for provider in providers:
        for model in provider.models:
            yield Name(provider.id, model.id)
            for text in _texts(model.match):
                yield Name(provider.id, text)
                yield Name(provider.id, f"{text}-20250601")


def _texts(clause: Any) -> Iterator[str]:
    for part in (*getattr(clause, "or_", ()), *getattr(clause, "and_", ())):
        yield from _texts(part)
    for field in ("equals", "starts_with", "ends_with", "contains"):
        if hasattr(clause, field):
            yield getattr(clause, field)


def names_of_litellm(document: bytes) -> Iterator[Name]:
    """Yield the names in LiteLLM's price file."""
    for key, entry in json.loads(document).items():
        if isinstance(entry, dict) and "litellm_provider" in entry:
            provider = str(entry["litellm_provider"])
            yield Name(provider, key.removeprefix(f"{provider}/"))


def structured_names() -> Iterator[Name]:
    """Yield the ids of models with tiers, dates, hours or variants."""
    for provider in providers:
        for model in provider.models:
            prices = model.prices
            if (
                model.price_variants
                or not isinstance(prices, ModelPrice)
                or any(isinstance(each, TieredPrices) for each in vars(prices).values())
            ):
                yield Name(provider.id, model.id)


async def compare(
    names: Iterable[Name], title: str, *, is_full: bool = False
) -> Agreement:
    """Price every name that the package resolves by both.

    ``is_full``: with more usages, and with each condition.
    """
    catalog = ImportedCatalog(import_genai_prices())
    package = DataSnapshot(providers=providers, from_auto_update=False)
    agreement = Agreement(title)
    usages = (*USAGES, *MORE_USAGES) if is_full else USAGES
    cases = list(product(TIMES, usages, CONDITIONS if is_full else CONDITIONS[:1]))
    for name in dict.fromkeys(names):
        try:
            provider, model = package.find_provider_model(
                name.model, None, name.provider, None
            )
        except LookupError:
            continue
        agreement.names += 1
        # The package drops conditions for models of another provider.
        is_own = any(model is each for each in provider.models)
        for at, counts, conditions in cases:
            counts = _suited(counts, model.get_prices(at, conditions))  # noqa: PLW2901
            try:
                theirs = model.calc_price(
                    TheirUsage(**counts),
                    provider,
                    genai_request_timestamp=at,
                    price_context=conditions,
                ).total_price
            except ValueError:
                continue
            ours = await price_call(
                _usage(counts, conditions if is_own else {}),
                provider=name.provider,
                models=(name.model,),
                at=at,
                catalog=catalog,
            )
            reason = _reason(model, ours.unpriced, theirs, at)
            if provider.id == "groq" and "audio_seconds" in counts:
                seconds = {"audio_seconds": MINIMUM_S, "input_audio_seconds": MINIMUM_S}
                longer = await price_call(
                    _usage(counts | seconds, conditions if is_own else {}),
                    provider=name.provider,
                    models=(name.model,),
                    at=at,
                    catalog=catalog,
                )
                reason = MINIMUM if longer.amount == theirs else None
            agreement.add(
                f"{name} {at} {counts} {conditions}: {ours} instead of {theirs}",
                is_equal=ours.amount == theirs,
                reason=reason,
            )
    return agreement


def _suited(counts: Mapping[str, int], prices: ModelPrice) -> dict[str, int]:
    """Return what a call of a model can use: an embedding has no output tokens.

    Of a direction without a price tokens would cost 0 for the package, and an unknown
    amount here; a model without any price keeps them.
    """
    units = [
        _REGISTRY.unit_for_price_key(key)
        for key, price in vars(prices).items()
        if price is not None
    ]
    if not units:
        return dict(counts)
    directions = {
        unit.dimensions["direction"]
        for unit in units
        if unit.dimensions["family"] == "tokens"
    }
    return {
        **{
            name: count
            for name, count in counts.items()
            if ("output" if name.startswith("output") else "input") in directions
        },
        **{
            unit.usage_key: OTHERS
            for unit in units
            if unit.dimensions["family"] not in ("tokens", "requests")
        },
    }


def _usage(counts: Mapping[str, int], conditions: Mapping[str, str]) -> ModelCallUsage:
    own: Any = {name: count for name, count in counts.items() if name in OWN_COUNTS}
    others = {name: count for name, count in counts.items() if name not in own}
    return ModelCallUsage(**own, others=others, conditions=conditions)


def _reason(
    model: ModelInfo, unpriced: Unpriced | None, theirs: Decimal, at: datetime
) -> str | None:
    if unpriced is not None and not vars(model.get_prices(at)) and theirs == 0:
        return NO_PRICE
    if unpriced is None and _has_earlier_hours(model, at):
        return EARLIER
    return None


def _has_earlier_hours(model: ModelInfo, at: datetime) -> bool:
    """Say whether hours apply that are listed after a price of a later date."""
    if isinstance(model.prices, ModelPrice):
        return False
    is_later = False
    for listed in model.prices:
        constraint = listed.constraint
        if isinstance(constraint, StartDateConstraint) and not constraint.active(at):
            is_later = True
        if isinstance(constraint, TimeOfDateConstraint) and constraint.active(at):
            return is_later
    return False
