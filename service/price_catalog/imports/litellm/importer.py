"""Import prices from a LiteLLM model_prices_and_context_window.json."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from service.errors import InvalidRequestError
from service.http.json_bounds import has_more_parts
from service.pacing import take_apart
from service.price_catalog.imports.exact_prices import (
    RefusedRowError,
)
from service.price_catalog.imports.litellm.entry import read_period
from service.price_catalog.imports.litellm.names import (
    FORMAT_KEYS,
    provider_display_name,
    read_key,
)
from service.price_catalog.imports.litellm.thresholds import with_plain_thresholds
from service.price_catalog.imports.price_list import (
    Import,
    ImportedModel,
    PricePeriod,
    PriceSource,
    ReasonCode,
    SkippedModel,
    sorted_import,
)
from service.price_catalog.imports.price_notes import printable
from service.price_catalog.periods import NAME_LENGTH_MAX

SOURCE_NAME = "litellm"
# The published file has 3 MiB.
DOCUMENT_BYTES_MAX = 16 * 1024 * 1024
# An entry of the published file has about 60, so that the most models fit.
JSON_PARTS_MAX = 1_500_000


class InvalidPriceSourceError(InvalidRequestError):
    """The document isn't a LiteLLM price file."""

    code = "invalid_price_source"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """A valid entry: its key in the file, and its content."""

    key: str
    provider: str
    model: str
    period: PricePeriod

    @property
    def has_prefix(self) -> bool:
        return self.key != self.model


def import_litellm(document: bytes, *, version: str | None = None) -> Import:
    """Read a whole LiteLLM price file.

    The file states US dollars per token and no dates, so every model has one
    period whose start and end are open. Nor does it state a version: give the
    release or commit that it came from. Of duplicate keys in the file the last one
    counts, as for LiteLLM itself.

    :raises InvalidPriceSourceError: the document isn't such a file, or has more than
        DOCUMENT_BYTES_MAX bytes or JSON_PARTS_MAX parts
    """
    parsed = _parsed(document)
    try:
        models, skipped = _models(_entries(parsed))
    finally:
        take_apart(parsed)
    sha256 = hashlib.sha256(document).hexdigest()
    source = PriceSource(name=SOURCE_NAME, version=version, sha256=sha256)
    return sorted_import(source, models, skipped)


def _models(
    entries: Mapping[str, object],
) -> tuple[list[ImportedModel], list[SkippedModel]]:
    listings: dict[tuple[str, str], list[_Listing]] = {}
    skipped: list[SkippedModel] = []
    for key, entry in entries.items():
        try:
            listing = _read_listing(key, entry)
        except RefusedRowError as refusal:
            skipped.append(_skipped(key, entry, refusal))
        else:
            key_of_model = (listing.provider, listing.model)
            listings.setdefault(key_of_model, []).append(listing)
    models = [_imported(_preferred(same)) for same in listings.values()]
    for same in listings.values():
        skipped.extend(_duplicates(same))
    return models, skipped


def _parsed(document: bytes) -> Any:
    if len(document) > DOCUMENT_BYTES_MAX:
        raise InvalidPriceSourceError(
            f"a price file has at most {DOCUMENT_BYTES_MAX} bytes"
        )
    if has_more_parts(document, JSON_PARTS_MAX):
        raise InvalidPriceSourceError(
            f"a price file has at most {JSON_PARTS_MAX} values, names and brackets"
        )
    try:
        return json.loads(
            document, parse_float=_number, parse_int=_number, parse_constant=_number
        )
    except (ValueError, RecursionError) as error:
        raise InvalidPriceSourceError("the price file isn't valid JSON") from error


def _entries(parsed: object) -> dict[str, object]:
    if not isinstance(parsed, dict) or not any(map(_names_provider, parsed.values())):
        raise InvalidPriceSourceError(
            "the file isn't a LiteLLM price file: no entry has a litellm_provider"
        )
    return parsed


def _number(literal: str) -> Decimal:
    # An exponent out of Decimal's range makes its row invalid, not the whole file.
    try:
        return Decimal(literal)
    except InvalidOperation:
        return Decimal("NaN")


def _names_provider(entry: object) -> bool:
    return isinstance(entry, dict) and isinstance(entry.get("litellm_provider"), str)


def _read_listing(key: str, entry: object) -> _Listing:
    if key in FORMAT_KEYS or not isinstance(entry, dict):
        reason = "describes the file or gives rules, not a model's price"
        raise RefusedRowError(ReasonCode.NOT_A_MODEL, reason)
    provider, model = read_key(key, entry)
    period = read_period(with_plain_thresholds(entry), provider=provider)
    return _Listing(key=key, provider=provider, model=model, period=period)


def _preferred(same: list[_Listing]) -> _Listing:
    # LiteLLM looks for the prefixed key first.
    return next((listing for listing in same if listing.has_prefix), same[0])


def _duplicates(same: list[_Listing]) -> Iterator[SkippedModel]:
    winner = _preferred(same)
    for loser in same:
        if loser is winner:
            continue
        agrees = loser.period.prices == winner.period.prices
        relation = "same prices as" if agrees else "other prices than"
        yield SkippedModel(
            provider=loser.provider,
            model=loser.model,
            code=(ReasonCode.DUPLICATE if agrees else ReasonCode.CONFLICTING_DUPLICATE),
            reason=f"{loser.key} has {relation} {winner.key}, which counts",
        )


def _imported(listing: _Listing) -> ImportedModel:
    return ImportedModel(
        provider=listing.provider,
        provider_name=provider_display_name(listing.provider),
        model=listing.model,
        periods=(listing.period,),
    )


def _skipped(key: str, entry: object, refusal: RefusedRowError) -> SkippedModel:
    provider = entry.get("litellm_provider") if isinstance(entry, dict) else None
    name = provider if isinstance(provider, str) else ""
    return SkippedModel(
        provider=_printable(name),
        model=_printable(key.removeprefix(f"{name}/")),
        code=refusal.code,
        reason=refusal.reason,
    )


def _printable(text: str) -> str:
    return printable(text[:NAME_LENGTH_MAX])
