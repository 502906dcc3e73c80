"""Apply events to the price rows of one model."""

from datetime import datetime
from types import SimpleNamespace

from projections.price_catalog.table import PriceRow
from service.event_log.mapper import RecordedEvent
from service.price_catalog.periods import (
    Period,
    decimal_of,
    price_values,
    time_of,
    time_text,
)


class Timeline:
    """The current price rows of one model, changed by its events.

    ``superseded``: rows of the table that are no longer current. ``added``: new rows,
    some of them already superseded.
    """

    def __init__(self, model_number: int) -> None:
        self.superseded: list[PriceRow] = []
        self.added: list[PriceRow] = []
        self._model_number = model_number
        self._current: list[tuple[Period, PriceRow]] = []

    def load(self, row: PriceRow) -> None:
        """Add a current row of the table; call in ascending order of its start."""
        self._current.append((_period(row), row))

    def apply(self, recorded: RecordedEvent) -> None:
        """Apply an event of the model's prices."""
        before = [period for period, _ in self._current]
        model = SimpleNamespace(periods=before)
        recorded.event.apply(model)
        remaining = set(map(_identity, model.periods))
        known = set(map(_identity, before))
        new = {id(row) for row in self.added}
        current: list[tuple[Period, PriceRow]] = []
        for period, row in self._current:
            if _identity(period) in remaining:
                current.append((period, row))
                continue
            row.known_until = recorded.position
            row.known_until_time = recorded.recorded_at
            if id(row) not in new:
                self.superseded.append(row)
        for period in model.periods:
            if _identity(period) not in known:
                row = self._row(period, recorded)
                self.added.append(row)
                current.append((period, row))
        self._current = sorted(current, key=lambda item: item[0]["effective_from"])

    def _row(self, period: Period, recorded: RecordedEvent) -> PriceRow:
        price, source = period["price"], period["source"]
        return PriceRow(
            model_id=recorded.aggregate_id,
            model_number=self._model_number,
            price_version=period["price_version"],
            effective_from=datetime.fromisoformat(period["effective_from"]),
            effective_until=time_of(period["effective_until"]),
            known_from=recorded.position,
            known_from_time=recorded.recorded_at,
            input_price_per_1m=decimal_of(price["input_price_per_1m"]),
            output_price_per_1m=decimal_of(price["output_price_per_1m"]),
            cache_creation_price_per_1m=decimal_of(
                price["cache_creation_price_per_1m"]
            ),
            cache_read_price_per_1m=decimal_of(price["cache_read_price_per_1m"]),
            currency=price["currency"],
            notes=price["notes"],
            structure=price["structure"],
            source_name=source["name"],
            source_version=source["version"],
            source_sha256=source["sha256"],
        )


def _identity(period: Period) -> tuple[int, str, str | None, str | None]:
    """Identify a period of a model; the rest follows from the price's event."""
    return (
        period["price_version"],
        period["effective_from"],
        period["effective_until"],
        period["price"]["notes"],
    )


def _period(row: PriceRow) -> Period:
    until = row.effective_until
    return {
        "price_version": row.price_version,
        "effective_from": time_text(row.effective_from),
        "effective_until": None if until is None else time_text(until),
        "price": price_values(row),
        "source": {
            "name": row.source_name,
            "version": row.source_version,
            "sha256": row.source_sha256,
        },
    }
