"""Bring one model's prices to what a price list says, or say what stands against it."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal

from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.importers.price_rows import ImportedModel, PricePeriod
from service.price_catalog.periods import (
    MANUAL,
    Period,
    PriceValues,
    Provenance,
    exact,
    instant,
    is_before,
    overlapping,
    period_at,
)
from service.price_catalog.price_import import Change, HeldBecause

# The start of a price that the list knows to have ended, but not since when it held.
BEFORE_ANY_PRICE = instant(datetime(1970, 1, 1, tzinfo=UTC))
SUSPICIOUS_FACTOR = 5


@dataclass(frozen=True, slots=True)
class Reconciled:
    changes: tuple[Change, ...]
    held_because: tuple[HeldBecause, ...]


@dataclass(frozen=True, slots=True)
class _Target:
    start: str
    end: str | None
    price: PriceValues


def reconcile(
    pricing: ModelPricing,
    listed: ImportedModel,
    source: Provenance,
    *,
    now: datetime,
    undated_since: datetime,
) -> Reconciled:
    """Set, correct or annotate prices of a model so that they say what a list says.

    Works on the aggregate given: whoever holds the change back drops it. A price
    without a start in the list counts from ``undated_since``, or, when the model has
    that very price already, from where it has it. What the list doesn't mention
    stays.
    """
    return _Reconciliation(pricing, source, instant(now)).run(
        listed.periods, instant(undated_since)
    )


class _Reconciliation:
    def __init__(self, pricing: ModelPricing, source: Provenance, now: str) -> None:
        self._pricing = pricing
        self._source = source
        self._now = now
        self._before = list(pricing.periods)
        self._changes: list[Change] = []
        self._held: dict[HeldBecause, None] = {}

    def run(self, listed: Sequence[PricePeriod], undated_since: str) -> Reconciled:
        for period in listed:
            target = self._target(period, undated_since)
            for start, end in self._pieces(target):
                self._settle(target, start, end)
        return Reconciled(tuple(self._changes), tuple(self._held))

    def _target(self, listed: PricePeriod, undated_since: str) -> _Target:
        price = _values(listed)
        until = listed.effective_until
        end = None if until is None else instant(until)
        if listed.effective_from is not None:
            return _Target(instant(listed.effective_from), end, price)
        start = undated_since
        if not is_before(undated_since, end):
            start = self._first_start(end) or BEFORE_ANY_PRICE
        holding = period_at(self._before, start)
        if holding is not None and _is_same_price(holding["price"], price):
            start = holding["effective_from"]
        return _Target(start, end, price)

    def _first_start(self, end: str | None) -> str | None:
        if self._before and is_before(self._before[0]["effective_from"], end):
            return self._before[0]["effective_from"]
        return None

    def _pieces(self, target: _Target) -> Iterator[tuple[str, str | None]]:
        """Cut a target's time where the model's periods start and end."""
        edges = {target.start}
        for period in overlapping(self._pricing.periods, target.start, target.end):
            edges.add(max(period["effective_from"], target.start))
            until = period["effective_until"]
            if until is not None and is_before(until, target.end):
                edges.add(until)
        starts = sorted(edges)
        yield from zip(starts, [*starts[1:], target.end], strict=True)

    def _settle(self, target: _Target, start: str, end: str | None) -> None:
        known = period_at(self._pricing.periods, start)
        if known is None:
            self._fill(target.price, start, end)
        elif not _is_same_price(known["price"], target.price):
            self._replace(known, target.price, start, end)
        elif known["price"]["notes"] != target.price["notes"]:
            self._annotate(known, target, start, end)

    def _fill(self, price: PriceValues, start: str, end: str | None) -> None:
        was_priced = any(each["effective_from"] < start for each in self._before)
        if was_priced and period_at(self._before, start) is None:
            self._hold(HeldBecause.ENDED_PRICE)
        self._set(price, start, end)
        self._note_change(start, end, period_at(self._before, start), price)

    def _replace(
        self, known: Period, price: PriceValues, start: str, end: str | None
    ) -> None:
        if known["source"]["name"] == MANUAL["name"]:
            self._hold(HeldBecause.MANUAL_PRICE)
        elif known["source"]["name"] != self._source["name"]:
            self._hold(HeldBecause.OTHER_SOURCE)
        if _is_suspicious(known["price"], price):
            self._hold(HeldBecause.SUSPICIOUS_CHANGE)
        self._note_change(start, end, known, price)
        if known["effective_until"] is None and known["effective_from"] < start:
            self._set(price, start, end)
            return
        if start < self._now:
            self._hold(HeldBecause.REPRICES_THE_PAST)
        self._correct(known, price, start, end)

    def _annotate(
        self, known: Period, target: _Target, start: str, end: str | None
    ) -> None:
        """Renew the words beside a price, if they are from the same list.

        Where the target covers only a part of the price, the part becomes a price
        of its own.
        """
        if known["source"]["name"] != self._source["name"]:
            return
        version = known["price_version"]
        parts = [
            each for each in self._pricing.periods if each["price_version"] == version
        ]
        is_whole = (start, end) == (known["effective_from"], known["effective_until"])
        self._note_change(start, end, known, target.price)
        if is_whole and len(parts) == 1:
            self._pricing.annotate_price(version, target.price["notes"])
        elif known["effective_until"] is None and known["effective_from"] < start:
            self._set(target.price, start, end)
        else:
            self._correct(known, target.price, start, end)

    def _set(self, price: PriceValues, start: str, end: str | None) -> None:
        self._pricing.set_price(
            price,
            effective_from=datetime.fromisoformat(start),
            effective_until=_moment(end),
            source=self._source,
        )

    def _correct(
        self, known: Period, price: PriceValues, start: str, end: str | None
    ) -> None:
        self._pricing.correct_price(
            known["price_version"],
            price,
            effective_from=datetime.fromisoformat(start),
            effective_until=_moment(end),
            source=self._source,
        )

    def _hold(self, reason: HeldBecause) -> None:
        self._held[reason] = None

    def _note_change(
        self, start: str, end: str | None, known: Period | None, price: PriceValues
    ) -> None:
        self._changes.append(
            Change(
                effective_from=start,
                effective_until=end,
                before=known["price"] if known else None,
                after=price,
            )
        )


def _values(listed: PricePeriod) -> PriceValues:
    return {
        "input_price_per_1m": exact(listed.input_price_per_1m),
        "output_price_per_1m": exact(listed.output_price_per_1m),
        "cache_creation_price_per_1m": exact(listed.cache_creation_price_per_1m),
        "cache_read_price_per_1m": exact(listed.cache_read_price_per_1m),
        "currency": listed.currency,
        "notes": listed.notes,
    }


def _is_same_price(one: PriceValues, other: PriceValues) -> bool:
    return {**one, "notes": None} == {**other, "notes": None}


def _is_suspicious(before: PriceValues, after: PriceValues) -> bool:
    if before["currency"] != after["currency"]:
        return True
    return any(
        _is_leap(Decimal(old), Decimal(new))
        for old, new in zip(_amounts(before), _amounts(after), strict=True)
        if old is not None and new is not None
    )


def _amounts(price: PriceValues) -> list[str | None]:
    return [
        price["input_price_per_1m"],
        price["output_price_per_1m"],
        price["cache_creation_price_per_1m"],
        price["cache_read_price_per_1m"],
    ]


def _is_leap(old: Decimal, new: Decimal) -> bool:
    if old == new:
        return False
    return new > SUSPICIOUS_FACTOR * old or old > SUSPICIOUS_FACTOR * new


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
