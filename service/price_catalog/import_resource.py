"""An import's report as the API shows it."""

from datetime import datetime
from decimal import Decimal

from typing_extensions import TypedDict

from service.price_catalog.importers.price_rows import SkippedModel
from service.price_catalog.periods import PriceValues
from service.price_catalog.price_import import (
    REASONS,
    Change,
    ImportOutcome,
    ImportReport,
    ModelOutcome,
)
from service.price_catalog.resource import PriceSourceResource


class PriceValuesResource(TypedDict):
    input_price_per_1m: Decimal | None
    output_price_per_1m: Decimal | None
    cache_creation_price_per_1m: Decimal | None
    cache_read_price_per_1m: Decimal | None
    currency: str
    notes: str | None


class PriceChangeResource(TypedDict):
    """A period's price before the import, null for none, and in the price list."""

    effective_from: datetime
    effective_until: datetime | None
    before: PriceValuesResource | None
    after: PriceValuesResource


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
    """A row of the list that can't or shouldn't be imported."""

    provider: str
    model: str
    code: str
    reason: str


class ImportCountsResource(TypedDict):
    added: int
    changed: int
    unchanged: int
    held: int
    skipped: int
    vanished: int


class ImportReportResource(TypedDict):
    """Differences between a price list and the catalog.

    ``vanished`` models had a price from this list, which no longer contains them; their
    prices stay.
    """

    source: PriceSourceResource
    dry_run: bool
    counts: ImportCountsResource
    differences: list[ModelDifferenceResource]
    skipped: list[SkippedRowResource]
    vanished: list[str]


def import_report_resource(report: ImportReport) -> ImportReportResource:
    return {
        "source": {
            "name": report.source["name"],
            "version": report.source["version"],
            "sha256": report.source["sha256"],
        },
        "dry_run": report.dry_run,
        "counts": {
            "added": len(report.of(ImportOutcome.ADDED)),
            "changed": len(report.of(ImportOutcome.CHANGED)),
            "unchanged": len(report.of(ImportOutcome.UNCHANGED)),
            "held": len(report.of(ImportOutcome.HELD)),
            "skipped": len(report.skipped),
            "vanished": len(report.vanished),
        },
        "differences": [
            _difference(each)
            for each in report.outcomes
            if each.fate is not ImportOutcome.UNCHANGED
        ],
        "skipped": [_skipped(each) for each in report.skipped],
        "vanished": report.vanished,
    }


def _difference(outcome: ModelOutcome) -> ModelDifferenceResource:
    return {
        "provider": outcome.provider,
        "model": outcome.model,
        "outcome": outcome.fate,
        "held_because": [
            {"code": str(each), "reason": REASONS[each]}
            for each in outcome.held_because
        ],
        "changes": [_change(each) for each in outcome.changes],
    }


def _change(change: Change) -> PriceChangeResource:
    until = change.effective_until
    return {
        "effective_from": datetime.fromisoformat(change.effective_from),
        "effective_until": None if until is None else datetime.fromisoformat(until),
        "before": None if change.before is None else _values(change.before),
        "after": _values(change.after),
    }


def _values(price: PriceValues) -> PriceValuesResource:
    return {
        "input_price_per_1m": _amount(price["input_price_per_1m"]),
        "output_price_per_1m": _amount(price["output_price_per_1m"]),
        "cache_creation_price_per_1m": _amount(price["cache_creation_price_per_1m"]),
        "cache_read_price_per_1m": _amount(price["cache_read_price_per_1m"]),
        "currency": price["currency"],
        "notes": price["notes"],
    }


def _skipped(skipped: SkippedModel) -> SkippedRowResource:
    return {
        "provider": skipped.provider,
        "model": skipped.model,
        "code": str(skipped.code),
        "reason": skipped.reason,
    }


def _amount(text: str | None) -> Decimal | None:
    return None if text is None else Decimal(text)
