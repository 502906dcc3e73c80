"""The structure of a price in a request body."""

from decimal import Decimal
from itertools import pairwise
from typing import Annotated, Self

from pydantic import Field, model_validator

from service.http.requests import RequestModel
from service.http.times import Timestamp
from service.http.validation_errors import explained, fault_at
from service.price_catalog.periods import (
    PRICE_DECIMAL_PLACES,
    PRICE_LIMIT,
    decimal_text,
    time_text,
)
from service.price_catalog.structure import HOURS_MAX, Hours, Rate, Structure, Tier
from service.price_catalog.usage import UNITS

TIERS_MAX = 20
VARIANTS_MAX = 20
LENGTH_LIMIT = 10**12
# What imports store has as many: 28 digits of more than 5e-14.
RATE_DECIMAL_PLACES = 41

Amount = Annotated[
    Decimal, Field(ge=0, lt=int(PRICE_LIMIT), decimal_places=PRICE_DECIMAL_PLACES)
]
RateAmount = Annotated[
    Decimal, Field(ge=0, lt=int(PRICE_LIMIT), decimal_places=RATE_DECIMAL_PLACES)
]
UnitName = Annotated[
    str,
    Field(
        pattern=explained(
            f"^({'|'.join(UNITS)})$", f"must be one of {', '.join(UNITS)}"
        )
    ),
]
# Not \d, which also means the digits of other scripts.
_CLOCK = "([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9])?"
Start = Annotated[
    str, Field(pattern=explained(f"^{_CLOCK}$", "must be a time of day, such as 16:30"))
]
End = Annotated[
    str,
    Field(
        pattern=explained(
            f"^({_CLOCK}|24:00(:00)?)$",
            "must be a time of day, such as 16:30, or 24:00",
        )
    ),
]
Weekday = Annotated[int, Field(ge=1, le=7)]
Word = Annotated[
    str,
    Field(
        min_length=1,
        max_length=64,
        pattern=explained(r"^[\w./:-]+$", "must be of letters, digits and . _ - / :"),
    ),
]


class TierBody(RequestModel):
    above: Annotated[int, Field(ge=0, lt=LENGTH_LIMIT)]
    price: RateAmount

    @property
    def tier(self) -> Tier:
        return {"above": self.above, "price": _text(self.price)}


class RateBody(RequestModel):
    price: RateAmount
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
    """A time of day in UTC, from `start` to just before `end`: `16:30` or `16:30:00`.

    It contains midnight if it ends before it starts; a day is from `00:00` to `24:00`.
    """

    start: Start
    end: End
    weekdays: list[Weekday] = Field(default_factory=list, max_length=7)

    @model_validator(mode="after")
    def _lasts(self) -> Self:
        if _seconds(self.start) == _seconds(self.end):
            raise fault_at("end", "must differ from the start")
        return self

    @property
    def hours(self) -> Hours:
        return {"start": self.start, "end": self.end, "weekdays": self.weekdays}


AnyRates = dict[UnitName, RateBody]
Rates = Annotated[AnyRates, Field(min_length=1)]


class WindowBody(RequestModel):
    hours: Annotated[list[HoursBody], Field(min_length=1, max_length=HOURS_MAX)]
    rates: Rates


class VariantBody(RequestModel):
    when: Annotated[dict[Word, Word], Field(min_length=1, max_length=5)]
    since: Timestamp | None = None
    hours: list[HoursBody] = Field(default_factory=list, max_length=HOURS_MAX)
    rates: AnyRates


class StructureBody(RequestModel):
    """All rates of a price that has more than four amounts."""

    rates: Rates
    windows: list[WindowBody] = Field(default_factory=list, max_length=HOURS_MAX)
    variants: list[VariantBody] = Field(default_factory=list, max_length=VARIANTS_MAX)

    def peak(self, unit: str) -> Decimal | None:
        """Return the highest rate of a unit without tiers, with the digits of a price.

        Of all hours; None if there is no rate.
        """
        known = [
            rates[unit].price
            for rates in (self.rates, *(window.rates for window in self.windows))
            if unit in rates
        ]
        return round(max(known), PRICE_DECIMAL_PLACES) if known else None

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


def _seconds(clock: str) -> str:
    return f"{clock}:00"[: len("16:30:00")]


def _text(amount: Decimal) -> str:
    return decimal_text(amount) or "0"
