"""The structure of a LiteLLM price: tiers, hours, service tiers, other units."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from itertools import islice
from typing import Final

from service.price_catalog.imports.exact_prices import RefusedRowError, read_price
from service.price_catalog.imports.price_list import ReasonCode
from service.price_catalog.periods import PRICE_DECIMAL_PLACES, decimal_text
from service.price_catalog.structure import (
    HOURS_MAX,
    Hours,
    Rate,
    Structure,
    Tier,
    Variant,
    Window,
)
from service.price_catalog.usage import UNITS

# The unit of each field; the file's prices are for one.
UNIT_OF_FIELD: Final[Mapping[str, str]] = {
    "input_cost_per_token": "input_tokens",
    "output_cost_per_token": "output_tokens",
    "cache_read_input_token_cost": "cache_read_tokens",
    "cache_creation_input_token_cost": "cache_write_tokens",
    "cache_creation_input_token_cost_above_1hr": "cache_write_1h_tokens",
    "input_cost_per_audio_token": "input_audio_tokens",
    "output_cost_per_audio_token": "output_audio_tokens",
    "cache_read_input_audio_token_cost": "cache_audio_read_tokens",
    "input_cost_per_image_token": "input_image_tokens",
    "output_cost_per_image_token": "output_image_tokens",
    "cache_read_input_image_token_cost": "cache_image_read_tokens",
    "input_cost_per_video_token": "input_video_tokens",
    "output_cost_per_video_token": "output_video_tokens",
    "output_cost_per_reasoning_token": "output_reasoning_tokens",
    "citation_cost_per_token": "output_citation_tokens",
    "input_cost_per_character": "input_characters",
    "output_cost_per_character": "output_characters",
    "input_cost_per_audio_per_second": "input_audio_seconds",
    "input_cost_per_image": "input_images",
    "output_cost_per_image": "output_images",
    "ocr_cost_per_page": "input_document_pages",
    "input_cost_per_request": "requests",
}
_INPUT, _OUTPUT = "input_cost_per_token", "output_cost_per_token"
_CACHED = ("cache_read_input_token_cost", "cache_creation_input_token_cost")
# The condition of a field's last word.
_SERVICES: Final[Mapping[str, Mapping[str, str]]] = {
    "batches": {"processing": "batch"},
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
    "balanced": {"service_tier": "balanced"},
    "ultrafast": {"service_tier": "ultrafast"},
}
# LiteLLM's other name of a service tier.
_ALSO: Final = {"priority": "fast"}
_TIER: Final = re.compile(r"_above_(\d{1,12})(k?)_tokens")
# Their tiers begin at the threshold, all others above it.
_INCLUSIVE: Final = frozenset({"xai"})
# LiteLLM's calculator charges half of the input price for cached tokens there, where
# the file has no price of them.
_HALF_FOR_CACHED: Final = frozenset({"fireworks_ai"})
_WEEKDAYS: Final = frozenset("1234567")
_CLOCK: Final = "(?:[01][0-9]|2[0-3]):[0-5][0-9]"
_RANGE: Final = re.compile(f"({_CLOCK})-({_CLOCK}|24:00)")


def read_structure(
    entry: Mapping[str, object], tiers: Sequence[Mapping[str, object]], provider: str
) -> Structure | None:
    """Return all rates of an entry, or None if its four amounts are all.

    :raises RefusedRowError: one of them is invalid
    """
    if tiers:
        _refuse_other_tiers(entry)
    rates = _rates_of_ranges(entry, tiers) if tiers else _rates(entry, "", provider)
    structure: Structure = {
        "rates": rates,
        "windows": list(_windows(entry.get("off_peak_pricing"), rates)),
        "variants": list(_variants(entry, provider, standard=rates)),
    }
    flat = {UNIT_OF_FIELD[field] for field in (_INPUT, _OUTPUT, *_CACHED)}
    is_flat = rates.keys() <= flat and not any(
        rate["tiers"] or _places(rate["price"]) > PRICE_DECIMAL_PLACES
        for rate in rates.values()
    )
    # There a rate may be none of the entry's own.
    is_flat = is_flat and provider not in _HALF_FOR_CACHED
    is_plain = not structure["windows"] and not structure["variants"]
    return None if is_flat and is_plain else structure


def _places(price: str) -> int:
    return len(price.partition(".")[2])


def _rates(
    entry: Mapping[str, object],
    suffix: str,
    provider: str,
    standard: Mapping[str, Rate] | None = None,
) -> dict[str, Rate]:
    """Read the rates of a service, whose missing tiers are the standard's."""
    rates: dict[str, Rate] = {}
    # Few entries have tiers, and fewer have them for a service.
    names = [name for name in entry if name.endswith(suffix) and _TIER.search(name)]
    for field, unit in UNIT_OF_FIELD.items():
        tiers = dict(_tiers(entry, names, field, suffix, provider))
        price = _price(entry.get(field + suffix), field + suffix, unit)
        if price is None and tiers and not suffix and field in _CACHED:
            price = _price(entry.get(_INPUT), _INPUT, unit)
        known = standard.get(unit) if standard else None
        if known is not None:
            price = known["price"] if price is None and tiers else price
            tiers = {tier["above"]: tier["price"] for tier in known["tiers"]} | tiers
        if price is not None:
            rates[unit] = {"price": price, "tiers": _sorted(tiers)}
    # Models that answer with images alone state no price of other output.
    if "output_image_tokens" in rates and not _is_charged(rates.get("output_tokens")):
        rates["output_tokens"] = rates["output_image_tokens"]
    if provider in _HALF_FOR_CACHED and "cache_read_tokens" not in rates:
        rates |= _half(rates.get("input_tokens"))
    return rates


def _is_charged(rate: Rate | None) -> bool:
    return rate is not None and bool(Decimal(rate["price"]))


def _half(rate: Rate | None) -> dict[str, Rate]:
    if rate is None:
        return {}
    tiers: list[Tier] = [
        {"above": tier["above"], "price": _halved(tier["price"])}
        for tier in rate["tiers"]
    ]
    return {"cache_read_tokens": {"price": _halved(rate["price"]), "tiers": tiers}}


def _halved(price: str) -> str:
    return decimal_text(Decimal(price) / 2) or "0"


def _sorted(tiers: Mapping[int, str]) -> list[Tier]:
    return [{"above": above, "price": tiers[above]} for above in sorted(tiers)]


def _tiers(
    entry: Mapping[str, object],
    names: Iterable[str],
    field: str,
    suffix: str,
    provider: str,
) -> Iterator[tuple[int, str]]:
    unit = UNIT_OF_FIELD[field]
    for name in names:
        found = _TIER.search(name)
        assert found is not None
        if name[: found.start()] + name[found.end() :] != field + suffix:
            continue
        price = _price(entry[name], name, unit)
        if price is not None:
            above = int(found[1]) * (1_000 if found[2] else 1)
            yield above - (provider in _INCLUSIVE), price


def _rates_of_ranges(
    entry: Mapping[str, object], tiers: Sequence[Mapping[str, object]]
) -> dict[str, Rate]:
    """Read tiers with ranges of tokens: each states all of its rates.

    Cached tokens without a rate cost as much as input; output without one costs what
    the entry says.
    """
    rates: dict[str, Rate] = {}
    for field, unit in UNIT_OF_FIELD.items():
        if not any(field in tier for tier in tiers) and field != _OUTPUT:
            continue
        other = _OUTPUT if field.startswith("output") else _INPUT
        prices = {
            _start(tier): _price(tier.get(field, tier.get(other)), field, unit)
            or _price(entry.get(field), field, unit)
            for tier in tiers
        }
        known = {above: price for above, price in prices.items() if price is not None}
        if known:
            first = min(known)
            rest = {above: price for above, price in known.items() if above > first}
            rates[unit] = {"price": known[first], "tiers": _sorted(rest)}
    return rates


def _refuse_other_tiers(entry: Mapping[str, object]) -> None:
    for name, value in entry.items():
        found = None if value is None else _TIER.search(name)
        if found and name.replace(found[0], "", 1) in UNIT_OF_FIELD:
            reason = f"{name} is beside tiered_pricing"
            raise RefusedRowError(ReasonCode.INVALID_TIERS, reason)


def _start(tier: Mapping[str, object]) -> int:
    bounds = tier["range"]
    assert isinstance(bounds, list)
    return int(bounds[0])


def _windows(offer: object, rates: Mapping[str, Rate]) -> Iterator[Window]:
    """Yield the off-peak hours; rates that they don't state are the standard's.

    :raises RefusedRowError: a price without hours, or hours that can't be read
    """
    if not offer:
        return
    if not isinstance(offer, dict):
        raise _invalid_hours("isn't an object")
    stated = {
        unit: Rate(price=price, tiers=[])
        for field, unit in UNIT_OF_FIELD.items()
        if (price := _price(offer.get(field), f"off-peak {field}", unit)) is not None
    }
    # Days of another time zone are in the notes alone.
    if not stated or offer.get("weekday_timezone"):
        return
    rules = offer.get("windows")
    rules = [*rules] if isinstance(rules, list) else []
    if offer.get("hours_utc") is not None:
        rules.append({"hours_utc": offer["hours_utc"]})
    found = (window for rule in rules for window in _hours(rule))
    hours = list(islice(found, HOURS_MAX + 1))
    if len(hours) > HOURS_MAX:
        raise _invalid_hours(f"has more than {HOURS_MAX} ranges of hours")
    if not hours:
        raise _invalid_hours("has prices and no hours")
    yield {"hours": hours, "rates": {**rates, **stated}}


def _hours(rule: object) -> Iterator[Hours]:
    listed = rule.get("hours_utc") if isinstance(rule, dict) else None
    days = rule.get("weekdays") if isinstance(rule, dict) else None
    weekdays = [] if days is None else days
    if not isinstance(weekdays, list) or not all(
        str(day) in _WEEKDAYS for day in weekdays
    ):
        raise _invalid_hours("has weekdays other than 1 to 7")
    for text in listed if isinstance(listed, list) else [listed]:
        found = _RANGE.fullmatch(text) if isinstance(text, str) else None
        if found is None:
            raise _invalid_hours("has hours that aren't as in 16:30-00:30")
        start, end = found.groups()
        whole_day = start == end
        yield {
            "start": "00:00" if whole_day else start,
            "end": "24:00" if whole_day else end,
            "weekdays": [int(day) for day in weekdays],
        }


def _invalid_hours(fault: str) -> RefusedRowError:
    return RefusedRowError(ReasonCode.INVALID_HOURS, f"off_peak_pricing {fault}")


def _variants(
    entry: Mapping[str, object], provider: str, *, standard: Mapping[str, Rate]
) -> Iterator[Variant]:
    for service, when in _SERVICES.items():
        if not any(name.endswith(service) for name in entry):
            continue
        rates = _rates(entry, f"_{service}", provider, standard)
        for condition in _conditions(service, when) if rates else ():
            yield {"when": condition, "since": None, "hours": [], "rates": rates}


def _conditions(service: str, when: Mapping[str, str]) -> Iterable[dict[str, str]]:
    yield dict(when)
    if service in _ALSO:
        yield {"service_tier": _ALSO[service]}


def _price(value: object, field: str, unit: str) -> str | None:
    """Return a price for as many of a unit as ``UNITS`` says, with all its digits."""
    if read_price(value, field=field, per_tokens=1) is None:
        return None
    assert isinstance(value, Decimal)
    return decimal_text(value * UNITS[unit].per)
