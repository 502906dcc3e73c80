"""Notes on a LiteLLM entry: everything beside its standard price."""

import re
from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal

from service.price_catalog.imports.exact_prices import read_prices
from service.price_catalog.imports.price_notes import priced, written

STANDARD_FIELDS = {
    "input_cost_per_token": "input",
    "output_cost_per_token": "output",
    "cache_creation_input_token_cost": "cache write",
    "cache_read_input_token_cost": "cache read",
}
SERVICES = "balanced|batches|decisions|flex|priority|ultrafast"
# A standard field, then perhaps a cache lifetime, a context size, a service tier:
# cache_creation_input_token_cost_above_1hr_above_200k_tokens_batches.
_VARIANT = re.compile(
    rf"(?P<kind>{'|'.join(STANDARD_FIELDS)})"
    r"(?:_above_(?P<hours>\d{1,3})hr)?"
    r"(?:_above_(?P<tokens>\d{1,12})(?P<k>k?)_tokens)?"
    rf"(?:_(?P<service>{SERVICES}))?"
)
# Tokens that aren't text: input_cost_per_audio_token_batches,
# cache_read_input_image_token_cost, output_cost_per_reasoning_token.
_OTHER_TOKEN = re.compile(
    r"(?:explicit_)?(?:input|output|cache_read_input|cache_creation_input|citation)"
    r"(?:_cost_per_[a-z]+_token|_[a-z]+_token_cost|_cost_per_token|_token_cost)"
    r"(?:_[a-z]{1,20})?"
)
_OTHER_CHARGE = re.compile(r"(?:[a-z]+_)*cost_per_[A-Za-z0-9_.]+")
# The same price again: in Databricks' own unit, or under DeepSeek's name.
_REPEATED = re.compile(r"\w+_dbu_cost_per_token|input_cost_per_token_cache_hit")
_UPLIFT = re.compile(
    r"regional_(?P<where>[a-z]+)_uplift_multiplier(?:_(?P<region>[a-z]+))?"
)
_FACTORS = (
    "us",
    "eu",
    "fast",
)  # in provider_specific_entry; its other fields aren't factors
_FACTOR_LIMIT = 1000
TOKENS_LIMIT = 10**12
_HOURS = re.compile(r"\d\d:\d\d-\d\d:\d\d")
_WEEKDAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def describe_extras(entry: Mapping[str, object]) -> Iterator[str | None]:
    """Describe the other charges of an entry, and their conditions.

    :raises RefusedRowError: one of its token prices is invalid
    """
    yield from _variants(entry)
    yield _other_tokens(entry)
    yield _off_peak(entry.get("off_peak_pricing"))
    yield _other_charges(entry)
    yield _factors(entry)
    yield _deprecation(entry.get("deprecation_date"))


def standard_prices(entry: Mapping[str, object], label: str = "") -> dict[str, Decimal]:
    """Read the standard prices that an entry, tier or discount contains."""
    values = {field: entry.get(field) for field in STANDARD_FIELDS}
    return read_prices(values, per_tokens=1, label=label)


def label_range(bounds: object) -> str:
    """Label a tier with its token range, as far as the range is readable."""
    numbers = list(map(_whole, bounds)) if isinstance(bounds, list) else []
    match numbers:
        case [str(start), str(end)]:
            return f"From {start} to {end} tokens"
        case [str(start), *_]:
            return f"From {start} tokens"
        case _:
            return "In another range of tokens"


def _whole(number: object) -> str | None:
    if not isinstance(number, Decimal) or not number.is_finite():
        return None
    if not 0 <= number < TOKENS_LIMIT:
        return None
    return f"{int(number):,}"


def _variants(entry: Mapping[str, object]) -> Iterator[str | None]:
    groups: dict[tuple[int, str], dict[str, Decimal]] = {}
    fields = [
        field
        for field in entry
        if field not in STANDARD_FIELDS and _VARIANT.fullmatch(field)
    ]
    values = {field: entry[field] for field in sorted(fields, key=_reading_order)}
    for field, price in read_prices(values, per_tokens=1).items():
        found = _VARIANT.fullmatch(field)
        assert found is not None
        tokens = int(found["tokens"] or 0) * (1_000 if found["k"] else 1)
        group = (tokens, found["service"] or "")
        hours = f" kept {int(found['hours'])} h" if found["hours"] else ""
        groups.setdefault(group, {})[STANDARD_FIELDS[found["kind"]] + hours] = price
    for tokens, service in sorted(groups):
        label = _label_variant(tokens, service)
        yield priced(label, groups[tokens, service])


def _reading_order(field: str) -> tuple[int, str]:
    """Sort input before output before cache, then by name."""
    standard = list(STANDARD_FIELDS)
    order = (index for index, name in enumerate(standard) if field.startswith(name))
    return next(order, len(standard)), field


def _label_variant(tokens: int, service: str) -> str:
    above = f"above {tokens:,} input tokens" if tokens else ""
    name = {"": "", "batches": "batch"}.get(service, service)
    label = f"{name} {above}".strip() or "also"
    return label[0].upper() + label[1:]


def _other_tokens(entry: Mapping[str, object]) -> str | None:
    values = {field: entry[field] for field in sorted(filter(_is_other_token, entry))}
    prices = read_prices(values, per_tokens=1)
    return priced(
        "Other tokens", {_token_name(field): price for field, price in prices.items()}
    )


def _is_other_token(field: str) -> bool:
    return _OTHER_TOKEN.fullmatch(field) is not None and not (
        _VARIANT.fullmatch(field) or _REPEATED.fullmatch(field)
    )


def _token_name(field: str) -> str:
    name = field.replace("_cost_per", "").replace("_cost", "").replace("_token", "")
    return name.replace("_", " ")


def _off_peak(offer: object) -> str | None:
    if not isinstance(offer, dict):
        return None
    prices = {
        STANDARD_FIELDS[field]: price
        for field, price in standard_prices(offer, label="off-peak ").items()
    }
    windows = offer.get("windows")
    listed = windows if isinstance(windows, list) else []
    times = "; ".join(_window(item) for item in listed if isinstance(item, dict))
    return priced(f"Off-peak price, {times}" if times else "Off-peak price", prices)


def _window(window: Mapping[str, object]) -> str:
    hours = window.get("hours_utc")
    ranges = hours if isinstance(hours, list) else [hours]
    valid = [
        text for text in ranges if isinstance(text, str) and _HOURS.fullmatch(text)
    ]
    days = window.get("weekdays")
    names = [
        name
        for number, name in enumerate(_WEEKDAYS, start=1)
        if isinstance(days, list) and number in days
    ]
    return f"{', '.join(names)} {', '.join(valid)} UTC".strip()


def _other_charges(entry: Mapping[str, object]) -> str | None:
    names = [
        field.replace("cost_per", "per").replace("_", " ")
        for field in sorted(entry)
        if _is_other_charge(field) and entry[field]
    ]
    return f"Also charged: {', '.join(names)}." if names else None


def _is_other_charge(field: str) -> bool:
    elsewhere = (_VARIANT, _OTHER_TOKEN, _REPEATED)
    return _OTHER_CHARGE.fullmatch(field) is not None and not any(
        pattern.fullmatch(field) for pattern in elsewhere
    )


def _factors(entry: Mapping[str, object]) -> str | None:
    factors = {
        f"regional {found['where']} {found['region'] or ''}".strip(): entry[field]
        for field in sorted(entry)
        if (found := _UPLIFT.fullmatch(field))
    }
    specific = entry.get("provider_specific_entry")
    if isinstance(specific, dict):
        factors |= {name: specific[name] for name in _FACTORS if name in specific}
    shown = [
        f"{name} {written(factor)}"
        for name, factor in factors.items()
        if isinstance(factor, Decimal)
        and factor.is_finite()
        and 1 <= factor < _FACTOR_LIMIT
    ]
    return f"Prices are multiplied for: {', '.join(shown)}." if shown else None


def _deprecation(announced: object) -> str | None:
    if announced is None:
        return None
    try:
        day = date.fromisoformat(announced) if isinstance(announced, str) else None
    except ValueError:
        day = None
    return f"Deprecated from {day}." if day else "Its deprecation is announced."
