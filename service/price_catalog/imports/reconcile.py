"""Compare one model's prices with a price list, and change them accordingly."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum

from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.imports.price_list import ImportedModel, PricePeriod
from service.price_catalog.imports.suspicious import (
    USUAL_COST_MAX,
    Doubt,
    doubt_of_change,
    doubt_of_first,
)
from service.price_catalog.periods import (
    MANUAL,
    Period,
    PriceValues,
    Provenance,
    is_before,
    overlapping,
    parts_of,
    period_at,
    price_values,
    time_of,
    time_text,
)

# The start of a price for which the list gives an end but no start.
BEFORE_ANY_PRICE = time_text(datetime(1970, 1, 1, tzinfo=UTC))


class HeldBecause(StrEnum):
    """Why a model is left unchanged; all but the first can be confirmed."""

    MANUAL_PRICE = "manual_price"
    OTHER_SOURCE = "other_source"
    ENDED_PRICE = "ended_price"
    SUSPICIOUS_CHANGE = "suspicious_change"
    REPRICES_THE_PAST = "reprices_the_past"
    ZERO_PRICE = "zero_price"
    ABSURD_PRICE = "absurd_price"


REASONS: Mapping[HeldBecause, str] = {
    HeldBecause.MANUAL_PRICE: "a price that was set manually is never overwritten",
    HeldBecause.OTHER_SOURCE: "the price comes from another list, which differs",
    HeldBecause.ENDED_PRICE: "the model has prices or had some, none of them for "
    "a time for which the list has one: it may have been ended",
    HeldBecause.SUSPICIOUS_CHANGE: "a price, or what usual model calls cost, changes "
    "by more than a factor of five, changes to 0, becomes unknown or absurd, or the "
    "currency changes",
    HeldBecause.REPRICES_THE_PAST: "a price would change for a time in the past",
    HeldBecause.ZERO_PRICE: "the list says 0, which may mean free, unknown or billed "
    "separately",
    HeldBecause.ABSURD_PRICE: "by the first price a usual model call costs more than "
    f"{USUAL_COST_MAX}: it may be for another number of tokens",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceChange:
    """The price of a period before, None for no price, and in the list.

    ``doubt`` is the first amount that looks like an error of the list.
    """

    effective_from: str
    effective_until: str | None
    before: PriceValues | None
    after: PriceValues
    doubt: Doubt | None = None


@dataclass(frozen=True, slots=True)
class Reconciled:
    changes: tuple[PriceChange, ...]
    held_because: tuple[HeldBecause, ...]


@dataclass(frozen=True, slots=True)
class _Target:
    start: str
    end: str | None
    price: PriceValues
    is_dated: bool  # the list states its start


def reconcile(
    pricing: ModelPricing,
    listed: ImportedModel,
    source: Provenance,
    *,
    now: datetime,
    undated_since: datetime,
) -> Reconciled:
    """Set, correct or annotate a model's prices so that they agree with a list.

    Changes the given aggregate; to hold the changes back, don't save it. A price
    without a start in the list starts at ``undated_since`` or, when the model has
    the same price at that time, at that price's start. What the list doesn't
    mention stays unchanged.
    """
    return _Reconciliation(pricing, source, time_text(now)).run(
        listed.periods, time_text(undated_since)
    )


class _Reconciliation:
    def __init__(self, pricing: ModelPricing, source: Provenance, now: str) -> None:
        self._pricing = pricing
        self._source = source
        self._now = now
        self._before = list(pricing.periods)
        # A new model has only its first event. Withdrawn prices leave no period.
        self._had_prices = pricing.version > 1
        self._changes: list[PriceChange] = []
        self._held: dict[HeldBecause, None] = {}

    def run(self, listed: Sequence[PricePeriod], undated_since: str) -> Reconciled:
        for period in listed:
            target = self._target(period, undated_since)
            for start, end in self._pieces(target):
                self._apply(target, start, end)
        return Reconciled(tuple(self._changes), tuple(self._held))

    def _target(self, listed: PricePeriod, undated_since: str) -> _Target:
        price = price_values(listed)
        until = listed.effective_until
        end = None if until is None else time_text(until)
        if listed.effective_from is not None:
            start = time_text(listed.effective_from)
            return _Target(start, end, price, is_dated=True)
        start = undated_since
        if not is_before(undated_since, end):
            start = self._first_start(end) or BEFORE_ANY_PRICE
        current = period_at(self._before, start)
        if current is not None and (
            _is_same_price(current["price"], price) or self._completes(current, price)
        ):
            start = current["effective_from"]
        return _Target(start, end, price, is_dated=False)

    def _first_start(self, end: str | None) -> str | None:
        if self._before and is_before(self._before[0]["effective_from"], end):
            return self._before[0]["effective_from"]
        return None

    def _pieces(self, target: _Target) -> Iterator[tuple[str, str | None]]:
        """Split a target's time where the model's periods start and end."""
        edges = {target.start}
        for period in overlapping(self._pricing.periods, target.start, target.end):
            edges.add(max(period["effective_from"], target.start))
            until = period["effective_until"]
            if until is not None and is_before(until, target.end):
                edges.add(until)
        starts = sorted(edges)
        yield from zip(starts, [*starts[1:], target.end], strict=True)

    def _apply(self, target: _Target, start: str, end: str | None) -> None:
        known = period_at(self._pricing.periods, start)
        if known is None:
            self._fill(target.price, start, end)
        elif self._completes(known, target.price):
            self._complete(known, target.price, start, end)
        elif not _is_same_price(known["price"], target.price):
            self._replace(known, target, start, end)
        elif known["price"]["notes"] != target.price["notes"]:
            self._annotate(known, target, start, end)

    def _fill(self, price: PriceValues, start: str, end: str | None) -> None:
        # A price of then was open, and ends where the list's first new one starts.
        known = period_at(self._before, start)
        if known is not None:
            doubt = self._hold_if_doubtful(known, price)
        else:
            if self._had_prices:
                self._hold(HeldBecause.ENDED_PRICE)
            doubt = doubt_of_first(price)
            if doubt:
                self._hold(HeldBecause.ABSURD_PRICE)
        self._set(price, start, end)
        self._note_change(start, end, known, price, doubt)

    def _replace(
        self, known: Period, target: _Target, start: str, end: str | None
    ) -> None:
        doubt = self._hold_if_doubtful(known, target.price)
        self._note_change(start, end, known, target.price, doubt)
        closes = known["effective_until"] is None and known["effective_from"] < start
        # A list that dates its next price says since when the open one was outdated.
        if start < self._now and not (closes and target.is_dated):
            self._hold(HeldBecause.REPRICES_THE_PAST)
        if closes:
            self._set(target.price, start, end)
        else:
            self._correct(known, target.price, start, end)

    def _completes(self, known: Period, price: PriceValues) -> bool:
        """Return whether a price only adds the structure that the known one lacks.

        Another version of its list adds it from a date on, which is a change.
        """
        before, source = known["price"], known["source"]
        is_other_version = (
            source["name"] == self._source["name"]
            and source["sha256"] != self._source["sha256"]
        )
        return (
            not is_other_version
            and before["structure"] is None
            and price["structure"] is not None
            and _is_same_price({**price, "structure": None}, before)
        )

    def _complete(
        self, known: Period, price: PriceValues, start: str, end: str | None
    ) -> None:
        """Add the structure that an earlier version of this service left out."""
        if known["source"]["name"] == self._source["name"]:
            self._note_change(start, end, known, price)
            self._correct(known, price, start, end)

    def _annotate(
        self, known: Period, target: _Target, start: str, end: str | None
    ) -> None:
        """Replace the notes of a price that comes from the same list.

        Where the target covers only a part of the price, that part becomes a
        separate price.
        """
        if known["source"]["name"] != self._source["name"]:
            return
        version = known["price_version"]
        parts = parts_of(self._pricing.periods, version)
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
            effective_until=time_of(end),
            source=self._source,
        )

    def _correct(
        self, known: Period, price: PriceValues, start: str, end: str | None
    ) -> None:
        self._pricing.correct_price(
            known["price_version"],
            price,
            effective_from=datetime.fromisoformat(start),
            effective_until=time_of(end),
            source=self._source,
        )

    def _hold_if_doubtful(self, known: Period, price: PriceValues) -> Doubt | None:
        if known["source"]["name"] == MANUAL["name"]:
            self._hold(HeldBecause.MANUAL_PRICE)
        elif known["source"]["name"] != self._source["name"]:
            self._hold(HeldBecause.OTHER_SOURCE)
        doubt = doubt_of_change(known["price"], price)
        if doubt:
            self._hold(HeldBecause.SUSPICIOUS_CHANGE)
        return doubt

    def _hold(self, reason: HeldBecause) -> None:
        self._held[reason] = None

    def _note_change(
        self,
        start: str,
        end: str | None,
        known: Period | None,
        price: PriceValues,
        doubt: Doubt | None = None,
    ) -> None:
        self._changes.append(
            PriceChange(
                effective_from=start,
                effective_until=end,
                before=known["price"] if known else None,
                after=price,
                doubt=doubt,
            )
        )


def _is_same_price(one: PriceValues, other: PriceValues) -> bool:
    return {**one, "notes": None} == {**other, "notes": None}
