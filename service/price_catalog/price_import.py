"""What importing a price list would do, or has done, model by model."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from service.price_catalog.importers.price_rows import SkippedModel
from service.price_catalog.periods import PriceValues, Provenance

CONFIRM_ALL = "all"


class ImportOutcome(StrEnum):
    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"
    HELD = "held"


class HeldBecause(StrEnum):
    """Why a model is left as it is; all but the first can be confirmed."""

    MANUAL_PRICE = "manual_price"
    OTHER_SOURCE = "other_source"
    ENDED_PRICE = "ended_price"
    SUSPICIOUS_CHANGE = "suspicious_change"
    REPRICES_THE_PAST = "reprices_the_past"
    ZERO_PRICE = "zero_price"


REASONS: Mapping[HeldBecause, str] = {
    HeldBecause.MANUAL_PRICE: "a price set by hand is never overwritten",
    HeldBecause.OTHER_SOURCE: "the price comes from another list, which differs",
    HeldBecause.ENDED_PRICE: "the price was ended, and the list still has it",
    HeldBecause.SUSPICIOUS_CHANGE: "a price changes more than five times, or to 0, "
    "or its currency does",
    HeldBecause.REPRICES_THE_PAST: "a price that has been in force would be another",
    HeldBecause.ZERO_PRICE: "the list says 0, which may mean free, unknown or billed "
    "apart",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a period was before, None for no price, and what the list says."""

    effective_from: str
    effective_until: str | None
    before: PriceValues | None
    after: PriceValues


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelOutcome:
    """What became of one model; a held one says why, with what it would change."""

    provider: str
    model: str
    fate: ImportOutcome
    changes: tuple[Change, ...] = ()
    held_because: tuple[HeldBecause, ...] = ()

    @property
    def key(self) -> str:
        return f"{self.provider}/{self.model}"


@dataclass(slots=True, kw_only=True)
class ImportReport:
    """The difference between a price list and the catalog.

    ``vanished`` are models whose price came from the same list earlier and that the
    list no longer has: nothing is done about them.
    """

    source: Provenance
    dry_run: bool
    at: datetime
    outcomes: list[ModelOutcome] = field(default_factory=list)
    skipped: tuple[SkippedModel, ...] = ()
    vanished: list[str] = field(default_factory=list)
    position: int | None = None

    def of(self, fate: ImportOutcome) -> list[ModelOutcome]:
        return [each for each in self.outcomes if each.fate == fate]

    @property
    def counts(self) -> dict[str, int]:
        counts = {str(fate): len(self.of(fate)) for fate in ImportOutcome}
        return counts | {
            "skipped": len(self.skipped),
            "vanished": len(self.vanished),
        }


class Progress(Protocol):
    def __call__(self, done: int, total: int) -> None:
        """Hear how many of the models have been looked at."""
