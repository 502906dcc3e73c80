"""The structure of a price in a request body."""

from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from service.http.requests import RequestModel, Timestamp
from service.price_catalog.periods import (
    PRICE_DECIMAL_PLACES,
    PRICE_LIMIT,
    decimal_text,
    time_text,
)
from service.price_catalog.structure import Hours, Rate, Structure, Tier
from service.price_catalog.usage import UNITS

TIERS_MAX = 20
HOURS_MAX = 20
VARIANTS_MAX = 20
LENGTH_LIMIT = 10**12

Amount = Annotated[
    Decimal, Field(ge=0, lt=int(PRICE_LIMIT), decimal_places=PRICE_DECIMAL_PLACES)
]
UnitName = Annotated[str, Field(pattern=f"^({'|'.join(UNITS)})$")]
Clock = Annotated[str, Field(pattern=r"^([01]\d|2[0-3]):[0-5]\d$")]
Weekday = Annotated[int, Field(ge=1, le=7)]
Word = Annotated[str, Field(min_length=1, max_length=64, pattern=r"^[\w./:-]+$")]


class TierBody(RequestModel):
    above: Annotated[int, Field(ge=0, lt=LENGTH_LIMIT)]
    price: Amount

    @property
    def tier(self) -> Tier:
        return {"above": self.above, "price": _text(self.price)}


class RateBody(RequestModel):
    price: Amount
    tiers: list[TierBody] = Field(default_factory=list, max_length=TIERS_MAX)

    @model_validator(mode="after")
    def _tiers_ascend(self) -> Self:
        if any(one.above >= other.above for one, other in pairwise(self.tiers)):
            raise ValueError("each tier must start above the one before it")
        return self

    @property
    def rate(self) -> Rate:
        return {
            "price": _text(self.price),
            "tiers": [each.tier for each in self.tiers],
        }


class HoursBody(RequestModel):
    """A time of day in UTC, from `start` to just before `end`."""

    start: Clock
    end: Clock
    weekdays: list[Weekday] = Field(default_factory=list, max_length=7)

    @property
    def hours(self) -> Hours:
        return {"start": self.start, "end": self.end, "weekdays": self.weekdays}


Rates = Annotated[dict[UnitName, RateBody], Field(min_length=1)]


class WindowBody(RequestModel):
    hours: Annotated[list[HoursBody], Field(min_length=1, max_length=HOURS_MAX)]
    rates: Rates


class VariantBody(RequestModel):
    when: Annotated[dict[Word, Word], Field(min_length=1, max_length=5)]
    since: Timestamp | None = None
    hours: list[HoursBody] = Field(default_factory=list, max_length=HOURS_MAX)
    rates: Rates


class StructureBody(RequestModel):
    """All rates of a price that has more than four amounts."""

    rates: Rates
    windows: list[WindowBody] = Field(default_factory=list, max_length=HOURS_MAX)
    variants: list[VariantBody] = Field(default_factory=list, max_length=VARIANTS_MAX)

    @property
    def structure(self) -> Structure:
        return {
            "rates": _rates(self.rates),
            "windows": [
                {
                    "hours": [each.hours for each in window.hours],
                    "rates": _rates(window.rates),
                }
                for window in self.windows
            ],
            "variants": [
                {
                    "when": variant.when,
                    "since": time_text(variant.since) if variant.since else None,
                    "hours": [each.hours for each in variant.hours],
                    "rates": _rates(variant.rates),
                }
                for variant in self.variants
            ],
        }


def _rates(rates: dict[str, RateBody]) -> dict[str, Rate]:
    return {unit: rate.rate for unit, rate in rates.items()}


def _text(amount: Decimal) -> str:
    return decimal_text(amount) or "0"
