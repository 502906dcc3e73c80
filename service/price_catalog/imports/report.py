"""The report of a price import, and its form in the API."""

from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum

from typing_extensions import TypedDict

from service.price_catalog.imports.price_list import INVALID_PRICES, SkippedModel
from service.price_catalog.imports.reconcile import REASONS, HeldBecause, PriceChange
from service.price_catalog.imports.suspicious import Doubt
from service.price_catalog.periods import (
    PriceValues,
    Provenance,
    decimal_of,
    time_of,
)
from service.price_catalog.resource import PriceSourceResource


class ImportOutcome(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    HELD = "held"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelResult:
    """The outcome of one model; ``changes`` of a held one were not applied.

    ``is_confirmed``: they were, because the caller confirmed them.
    """

    provider: str
    model: str
    outcome: ImportOutcome
    changes: tuple[PriceChange, ...] = ()
    held_because: tuple[HeldBecause, ...] = ()
    is_confirmed: bool = False

    @property
    def key(self) -> str:
        return f"{self.provider}/{self.model}"


class ImportCountsResource(TypedDict):
    added: int
    changed: int
    unchanged: int
    held: int
    skipped: int
    vanished: int


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """The differences between a price list and the catalog.

    ``vanished``: models whose price came from an earlier version of the list and
    which the list no longer contains. Their prices stay.
    """

    source: Provenance
    dry_run: bool
    at: datetime
    results: list[ModelResult] = field(default_factory=list)
    skipped: tuple[SkippedModel, ...] = ()
    vanished: list[str] = field(default_factory=list)
    match_rules_changed: list[str] = field(default_factory=list)
    confirmed: frozenset[str] = frozenset()
    position: int | None = None

    @property
    def not_held(self) -> list[str]:
        """Return the confirmed names that no held model has."""
        held = {
            result.key
            for result in self.results
            if result.is_confirmed or result.outcome is ImportOutcome.HELD
        }
        return sorted(self.confirmed - held)

    @property
    def counts(self) -> ImportCountsResource:
        outcomes = [result.outcome for result in self.results]
        return {
            "added": outcomes.count(ImportOutcome.ADDED),
            "changed": outcomes.count(ImportOutcome.CHANGED),
            "unchanged": outcomes.count(ImportOutcome.UNCHANGED),
            "held": outcomes.count(ImportOutcome.HELD),
            "skipped": len(self.skipped),
            "vanished": len(self.vanished),
        }


class PriceValuesResource(TypedDict):
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    notes: str | None


class PriceDoubtResource(TypedDict):
    """A unit's price, or what a usual model call costs, that looks like an error.

    `condition` is a service tier, hours or a length; empty where there is none. An
    amount of null is none, or unknown.
    """

    subject: str
    condition: str
    before: Decimal | None
    after: Decimal | None


class PriceChangeResource(TypedDict):
    """A period's price before the import, null for none, and in the price list.

    `doubt` is the first amount for which the change is held back, if it is.
    """

    effective_from: datetime
    effective_until: datetime | None
    before: PriceValuesResource | None
    after: PriceValuesResource
    doubt: PriceDoubtResource | None


class HeldReasonResource(TypedDict):
    code: str
    reason: str


class ModelDifferenceResource(TypedDict):
    """A model whose price the import adds, changes or holds back."""

    provider: str
    model: str
    outcome: ImportOutcome
    held_because: list[HeldReasonResource]
    changes: list[PriceChangeResource]


class SkippedRowResource(TypedDict):
    """A row of the list that can't or shouldn't be imported.

    `is_invalid`: it states a price, but not one that can be.
    """

    provider: str
    model: str
    code: str
    is_invalid: bool
    reason: str


class ImportReportResource(TypedDict):
    """Differences between a price list and the catalog.

    ``vanished`` models had a price from this list, which no longer contains them; their
    prices stay. ``match_rules_changed``: providers whose rules for names have changed.
    ``not_held``: names in ``confirm`` for which nothing was held back.
    """

    source: PriceSourceResource
    dry_run: bool
    counts: ImportCountsResource
    differences: list[ModelDifferenceResource]
    skipped: list[SkippedRowResource]
    vanished: list[str]
    match_rules_changed: list[str]
    not_held: list[str]


def import_report_resource(report: ImportReport) -> ImportReportResource:
    return {
        "source": report.source,
        "dry_run": report.dry_run,
        "counts": report.counts,
        "differences": [
            _difference(result)
            for result in report.results
            if result.outcome is not ImportOutcome.UNCHANGED
        ],
        "skipped": [_skipped(model) for model in report.skipped],
        "vanished": report.vanished,
        "match_rules_changed": report.match_rules_changed,
        "not_held": report.not_held,
    }


def _difference(result: ModelResult) -> ModelDifferenceResource:
    return {
        "provider": result.provider,
        "model": result.model,
        "outcome": result.outcome,
        "held_because": [
            {"code": str(held), "reason": REASONS[held]} for held in result.held_because
        ],
        "changes": [_change(change) for change in result.changes],
    }


def _change(change: PriceChange) -> PriceChangeResource:
    return {
        "effective_from": datetime.fromisoformat(change.effective_from),
        "effective_until": time_of(change.effective_until),
        "before": None if change.before is None else _values(change.before),
        "after": _values(change.after),
        "doubt": None if change.doubt is None else _doubt(change.doubt),
    }


def _doubt(doubt: Doubt) -> PriceDoubtResource:
    return {
        "subject": doubt.subject,
        "condition": doubt.condition,
        "before": doubt.before,
        "after": doubt.after,
    }


def _values(price: PriceValues) -> PriceValuesResource:
    return {
        "input_price_per_1m": decimal_of(price["input_price_per_1m"]),
        "output_price_per_1m": decimal_of(price["output_price_per_1m"]),
        "cache_creation_price_per_1m": decimal_of(price["cache_creation_price_per_1m"]),
        "cache_read_price_per_1m": decimal_of(price["cache_read_price_per_1m"]),
        "currency": price["currency"],
        "notes": price["notes"],
    }


def _skipped(skipped: SkippedModel) -> SkippedRowResource:
    return {
        "provider": skipped.provider,
        "model": skipped.model,
        "code": str(skipped.code),
        "is_invalid": skipped.code in INVALID_PRICES,
        "reason": skipped.reason,
    }
