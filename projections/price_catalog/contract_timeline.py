"""Apply events to the contract prices of one provider."""

from datetime import datetime
from types import SimpleNamespace
from typing import Any

from projections.price_catalog.contract_table import ContractRow
from service.event_log.mapper import RecordedEvent
from service.price_catalog.contracts.terms import (
    ALL_MODELS,
    ContractPeriod,
    ContractTerms,
)
from service.price_catalog.periods import decimal_of, time_of, time_text

NO_TERMS: ContractTerms = {"discount_percent": None, "price": None, "notes": None}


class ContractTimeline:
    """The current contract prices of one provider, changed by its events.

    ``superseded``: rows of the table that are no longer current. ``added``: new rows,
    some of them already superseded.
    """

    def __init__(self) -> None:
        self.superseded: list[ContractRow] = []
        self.added: list[ContractRow] = []
        self._current: list[ContractRow] = []

    def load(self, row: ContractRow) -> None:
        """Add a current row of the table; call in ascending order of its start."""
        self._current.append(row)

    def apply(self, recorded: RecordedEvent) -> None:
        model = recorded.event.model
        rows = {_identity(_period(row)): row for row in self._current_of(model)}
        provider = SimpleNamespace(
            contracts={model or ALL_MODELS: [_period(row) for row in rows.values()]}
        )
        recorded.event.apply(provider)
        after = {
            _identity(period): period
            for period in provider.contracts[model or ALL_MODELS]
        }
        new = {id(row) for row in self.added}
        for identity in rows.keys() - after.keys():
            row = rows[identity]
            row.known_until = recorded.position
            row.known_until_time = recorded.recorded_at
            if id(row) not in new:
                self.superseded.append(row)
        terms = {row.price_version: row for row in rows.values()}
        added = [
            _row(after[identity], terms, recorded)
            for identity in sorted(after.keys() - rows.keys())
        ]
        self.added += added
        kept = [row for identity, row in rows.items() if identity in after]
        others = [row for row in self._current if row.model != model]
        of_model = sorted([*kept, *added], key=lambda row: row.effective_from)
        self._current = [*others, *of_model]

    def _current_of(self, model: str | None) -> list[ContractRow]:
        return [row for row in self._current if row.model == model]


def _identity(period: ContractPeriod) -> tuple[int, str, str]:
    """Identify a period of a model; the rest follows from the price's event."""
    return (
        period["price_version"],
        period["effective_from"],
        period["effective_until"] or "",
    )


def _period(row: ContractRow) -> ContractPeriod:
    """Return the time of a row; its terms stay in the row."""
    until = row.effective_until
    return {
        "price_version": row.price_version,
        "effective_from": time_text(row.effective_from),
        "effective_until": None if until is None else time_text(until),
        "terms": NO_TERMS,
    }


def _row(
    period: ContractPeriod, known: dict[int, ContractRow], recorded: RecordedEvent
) -> ContractRow:
    earlier = known.get(period["price_version"])
    if earlier is None:
        values = _values(period["terms"])
    else:
        values = {name: getattr(earlier, name) for name in VALUES}
    return ContractRow(
        provider_id=recorded.aggregate_id,
        model=recorded.event.model,
        price_version=period["price_version"],
        effective_from=datetime.fromisoformat(period["effective_from"]),
        effective_until=time_of(period["effective_until"]),
        known_from=recorded.position,
        known_from_time=recorded.recorded_at,
        **values,
    )


def _values(terms: ContractTerms) -> dict[str, Any]:
    price: Any = terms["price"]
    return {
        "discount_percent": decimal_of(terms["discount_percent"]),
        **{name: price and decimal_of(price[name]) for name in AMOUNTS},
        "currency": price and price["currency"],
        "notes": terms["notes"],
        "structure": price and price["structure"],
    }


AMOUNTS = (
    "input_price_per_1m",
    "output_price_per_1m",
    "cache_creation_price_per_1m",
    "cache_read_price_per_1m",
)
VALUES = ("discount_percent", *AMOUNTS, "currency", "notes", "structure")
