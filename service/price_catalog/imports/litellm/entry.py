"""Read the price of one entry of a LiteLLM price file."""

from collections.abc import Iterator, Mapping
from decimal import Decimal
from itertools import pairwise

from service.price_catalog.imports import price_notes
from service.price_catalog.imports.exact_prices import RefusedRowError, is_rounded
from service.price_catalog.imports.litellm.notes import (
    STANDARD_FIELDS,
    TOKENS_LIMIT,
    describe_extras,
    label_range,
    standard_prices,
)
from service.price_catalog.imports.litellm.structure import read_structure
from service.price_catalog.imports.price_list import (
    PROVIDERS_WITHOUT_CHARGE,
    PricePeriod,
    ReasonCode,
)

CURRENCY = "USD"  # the file has no currency field; LiteLLM documents US dollars

# Modes billed by text token, also where the price is 0. An entry of another mode, such
# as image_generation or rerank, is imported if it has a price per token.
MODES_PER_TOKEN = frozenset(
    {"chat", "completion", "embedding", "realtime", "responses"}
)

INPUT = "input_cost_per_token"
OUTPUT = "output_cost_per_token"
CACHE_CREATION = "cache_creation_input_token_cost"
TIERS = "tiered_pricing"
CACHE_READ = "cache_read_input_token_cost"


def read_period(entry: Mapping[str, object], *, provider: str) -> PricePeriod:
    """Read an entry's standard price; everything else goes into the notes.

    For an entry with tiers alone, that is the price of the lowest tier. An off-peak
    discount goes into the notes, so the amounts are the peak price.

    :raises RefusedRowError: the entry has no price per token, or an invalid one
    """
    mode = entry.get("mode")
    is_by_token = (
        entry.get(INPUT) or entry.get(OUTPUT) or (mode is None and entry.get(TIERS))
    )
    if not is_by_token and (not isinstance(mode, str) or mode not in MODES_PER_TOKEN):
        name = mode if isinstance(mode, str) else "missing"
        reason = price_notes.printable(f"mode {name[:40]} isn't priced by token")
        raise RefusedRowError(ReasonCode.OTHER_MODE, reason)
    tiers = _read_tiers(entry.get(TIERS))
    is_flat = entry.get(INPUT) is not None or entry.get(OUTPUT) is not None
    standard = entry if is_flat or not tiers else {**entry, **tiers[0]}
    prices = standard_prices(standard)
    if INPUT not in prices and OUTPUT not in prices:
        reason = "neither an input nor an output price per token"
        raise RefusedRowError(ReasonCode.UNPRICED, reason)
    return PricePeriod(
        input_price_per_1m=prices.get(INPUT),
        output_price_per_1m=prices.get(OUTPUT),
        cache_creation_price_per_1m=prices.get(CACHE_CREATION),
        cache_read_price_per_1m=prices.get(CACHE_READ),
        structure=read_structure(entry, tiers, provider),
        currency=CURRENCY,
        effective_from=None,
        effective_until=None,
        notes=price_notes.join_notes(
            [
                _describe_charge(provider),
                *_describe_tiers(tiers),
                *describe_extras(standard),
                price_notes.rounded(
                    STANDARD_FIELDS[field]
                    for field, price in prices.items()
                    if is_rounded(price, standard[field], per_tokens=1)
                ),
            ]
        ),
    )


def _read_tiers(listed: object) -> list[dict[str, object]]:
    """Return the tiers, lowest first."""
    if listed is None:
        return []
    if not isinstance(listed, list):
        raise RefusedRowError(ReasonCode.INVALID_TIERS, "tiered_pricing isn't a list")
    tiers = sorted(listed, key=_tier_start)
    ends = [_tier_end(tier) for tier in tiers]
    starts = [_tier_start(tier) for tier in tiers]
    is_reversed = any(
        end is not None and end <= start
        for start, end in zip(starts, ends, strict=True)
    )
    overlaps = any(
        int(start) == int(following) or (end is not None and end > following)
        for (start, following), end in zip(pairwise(starts), ends, strict=False)
    )
    if is_reversed or overlaps:
        reason = "tiers of tiered_pricing overlap, or end before they start"
        raise RefusedRowError(ReasonCode.INVALID_TIERS, reason)
    return tiers


def _tier_end(tier: Mapping[str, object]) -> Decimal | None:
    bounds = tier["range"]
    assert isinstance(bounds, list)
    end = bounds[1] if len(bounds) > 1 else None
    return end if isinstance(end, Decimal) and end.is_finite() else None


def _tier_start(tier: object) -> Decimal:
    bounds = tier.get("range") if isinstance(tier, dict) else None
    if isinstance(bounds, list) and bounds:
        start = bounds[0]
        # As an integer, 1e99999999 would have too many digits.
        if (
            isinstance(start, Decimal)
            and start.is_finite()
            and 0 <= start < TOKENS_LIMIT
        ):
            return start
    reason = "a tier of tiered_pricing has no valid token range"
    raise RefusedRowError(ReasonCode.INVALID_TIERS, reason)


def _describe_tiers(tiers: list[dict[str, object]]) -> Iterator[str | None]:
    for tier in tiers[1:]:
        prices = {
            STANDARD_FIELDS[field]: price
            for field, price in standard_prices(tier).items()
        }
        yield price_notes.priced(label_range(tier["range"]), prices)


def _describe_charge(provider: str) -> str | None:
    if provider not in PROVIDERS_WITHOUT_CHARGE:
        return None
    return "No charge by token: it runs on its operator's own hardware."
