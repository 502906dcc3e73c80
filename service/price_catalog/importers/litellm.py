"""Import prices from a LiteLLM model_prices_and_context_window.json."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation

from service.errors import InvalidRequestError
from service.price_catalog.importers.exact_prices import (
    NAME_LENGTH_MAX,
    RefusedRowError,
)
from service.price_catalog.importers.litellm_entry import read_period
from service.price_catalog.importers.litellm_names import (
    FORMAT_KEYS,
    provider_display_name,
    read_key,
)
from service.price_catalog.importers.price_notes import printable
from service.price_catalog.importers.price_rows import (
    Import,
    ImportedModel,
    PricePeriod,
    PriceSource,
    ReasonCode,
    SkippedModel,
    sorted_import,
)

SOURCE_NAME = "litellm"
DOCUMENT_BYTES_MAX = 32 * 1024 * 1024


class InvalidPriceSourceError(InvalidRequestError):
    """The bytes aren't the price file that they are said to be."""

    code = "invalid_price_source"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Listing:
    """One usable entry: its key in the file, and what it says."""

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
    period whose start and end are open. It carries no version either: give the
    release or commit that it came from. Of a key that stands twice in the file
    the last one counts, as for LiteLLM itself.

    :raises InvalidPriceSourceError: if the bytes aren't such a file, or are more
        than DOCUMENT_BYTES_MAX
    """
    entries = _parsed(document)
    listings: dict[tuple[str, str], list[_Listing]] = {}
    skipped: list[SkippedModel] = []
    for key, entry in entries.items():
        try:
            listing = _read_listing(key, entry)
        except RefusedRowError as refusal:
            skipped.append(_skipped(key, entry, refusal))
        else:
            named = (listing.provider, listing.model)
            listings.setdefault(named, []).append(listing)
    models = [_imported(_preferred(same)) for same in listings.values()]
    for same in listings.values():
        skipped.extend(_duplicates(same))
    sha256 = hashlib.sha256(document).hexdigest()
    source = PriceSource(name=SOURCE_NAME, version=version, sha256=sha256)
    return sorted_import(source, models, skipped)


def _parsed(document: bytes) -> dict[str, object]:
    if len(document) > DOCUMENT_BYTES_MAX:
        raise InvalidPriceSourceError(
            f"a price file has at most {DOCUMENT_BYTES_MAX} bytes"
        )
    try:
        entries = json.loads(
            document, parse_float=_number, parse_int=_number, parse_constant=_number
        )
    except (ValueError, RecursionError) as error:
        raise InvalidPriceSourceError("the price file isn't valid JSON") from error
    if not isinstance(entries, dict) or not any(map(_names_provider, entries.values())):
        raise InvalidPriceSourceError(
            "the file isn't a LiteLLM price file: no entry has a litellm_provider"
        )
    return entries


def _number(literal: str) -> Decimal:
    # An exponent beyond Decimal's own is the row's fault, not the whole file's.
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
    period = read_period(entry, provider=provider)
    return _Listing(key=key, provider=provider, model=model, period=period)


def _preferred(same: list[_Listing]) -> _Listing:
    # LiteLLM looks for the prefixed key first.
    return next((each for each in same if each.has_prefix), same[0])


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
    return SkippedModel(
        provider=_shown(provider) if isinstance(provider, str) else "",
        model=_shown(key),
        code=refusal.code,
        reason=refusal.reason,
    )


def _shown(text: str) -> str:
    return printable(text[:NAME_LENGTH_MAX])
