"""The price rows of one model while events are folded into them."""

from datetime import datetime
from decimal import Decimal
from typing import Any

from projections.price_catalog.table import PriceRow
from service.event_log.mapper import RecordedEvent
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.periods import (
    Period,
    exact,
    instant,
    stated,
    with_price_annotated,
    with_price_corrected,
    with_price_ended,
    with_price_set,
)


class Timeline:
    """Applies the aggregate's own arithmetic to what is known of one model.

    ``superseded`` are rows that were in the table and are known no more, ``added``
    are new ones, some of them already superseded again.
    """

    def __init__(self, model_number: int) -> None:
        self.superseded: list[PriceRow] = []
        self.added: list[PriceRow] = []
        self._model_number = model_number
        self._known: list[tuple[Period, PriceRow]] = []

    def remember(self, row: PriceRow) -> None:
        """Take a row of the table that is still known; in the order of time."""
        self._known.append((_period(row), row))

    def apply(self, recorded: RecordedEvent) -> None:
        """Fold one event of the model's prices."""
        before = [period for period, _ in self._known]
        after = _applied(before, recorded.event, recorded.version)
        stays = {_identity(each) for each in after}
        was = {_identity(each) for each in before}
        new = {id(row) for row in self.added}
        kept: list[tuple[Period, PriceRow]] = []
        for period, row in self._known:
            if _identity(period) in stays:
                kept.append((period, row))
                continue
            row.known_until = recorded.position
            row.known_until_time = recorded.recorded_at
            if id(row) not in new:
                self.superseded.append(row)
        for period in after:
            if _identity(period) not in was:
                row = self._row(period, recorded)
                self.added.append(row)
                kept.append((period, row))
        self._known = sorted(kept, key=lambda each: each[0]["effective_from"])

    def _row(self, period: Period, recorded: RecordedEvent) -> PriceRow:
        price, source = period["price"], period["source"]
        return PriceRow(
            model_id=recorded.aggregate_id,
            model_number=self._model_number,
            price_version=period["price_version"],
            effective_from=datetime.fromisoformat(period["effective_from"]),
            effective_until=_time(period["effective_until"]),
            known_from=recorded.position,
            known_from_time=recorded.recorded_at,
            input_price_per_1m=_amount(price["input_price_per_1m"]),
            output_price_per_1m=_amount(price["output_price_per_1m"]),
            cache_creation_price_per_1m=_amount(price["cache_creation_price_per_1m"]),
            cache_read_price_per_1m=_amount(price["cache_read_price_per_1m"]),
            currency=price["currency"],
            notes=price["notes"],
            source_name=source["name"],
            source_version=source["version"],
            source_sha256=source["sha256"],
        )


def _applied(periods: list[Period], event: Any, version: int) -> list[Period]:
    match event:
        case ModelPricing.PriceSet():
            return with_price_set(periods, _stated(event, version), event.closes)
        case ModelPricing.PriceCorrected():
            return with_price_corrected(periods, _stated(event, version))
        case ModelPricing.PriceEnded():
            return with_price_ended(
                periods, event.effective_from, event.effective_until
            )
        case ModelPricing.PriceAnnotated():
            return with_price_annotated(periods, event.price_version, event.notes)
        case _:
            raise TypeError(f"{type(event)} says nothing of a price")


def _identity(period: Period) -> tuple[int, str, str | None, str | None]:
    """Tell periods of one model apart; the rest follows from the price's event."""
    return (
        period["price_version"],
        period["effective_from"],
        period["effective_until"],
        period["price"]["notes"],
    )


def _stated(event: Any, version: int) -> Period:
    return stated(
        version,
        event.effective_from,
        event.effective_until,
        event.price,
        event.source,
    )


def _period(row: PriceRow) -> Period:
    until = row.effective_until
    return {
        "price_version": row.price_version,
        "effective_from": instant(row.effective_from),
        "effective_until": None if until is None else instant(until),
        "price": {
            "input_price_per_1m": exact(row.input_price_per_1m),
            "output_price_per_1m": exact(row.output_price_per_1m),
            "cache_creation_price_per_1m": exact(row.cache_creation_price_per_1m),
            "cache_read_price_per_1m": exact(row.cache_read_price_per_1m),
            "currency": row.currency,
            "notes": row.notes,
        },
        "source": {
            "name": row.source_name,
            "version": row.source_version,
            "sha256": row.source_sha256,
        },
    }


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
