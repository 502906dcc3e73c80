"""The query parameters of usage."""

import zoneinfo
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Annotated, Final, Self, get_args
from uuid import UUID

from pydantic import (
    AfterValidator,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from projections.usage.form import PERIODS, SUBJECTS, Form, Group, Order
from service.http.requests import QueryModel
from service.http.times import Day
from service.http.validation_errors import explained, fault_at
from service.sessions.ids import ClientId

PAGE_SIZE_DEFAULT: Final = 100
PAGE_SIZE_MAX: Final = 1000
OFFSET_MAX: Final = 10**9
TOP_MAX: Final = 50
DAYS_DEFAULT: Final = 30
# Days that every time zone and calendar can tell, with the periods around them.
DAY_MIN: Final = date(1900, 1, 1)
DAY_MAX: Final = date(9998, 12, 31)
NO_ZONE: Final = "no such time zone; takes names such as Europe/Berlin"
GROUPS: Final[tuple[Group, ...]] = get_args(Group)


def _groups(text: str) -> list[Group]:
    names = set(text.split(","))
    if not names.issubset(GROUPS):
        raise ValueError(f"takes some of {', '.join(GROUPS)}, separated by commas")
    if len(names.intersection(PERIODS)) > 1:
        raise ValueError(f"takes one of {', '.join(PERIODS)}")
    return [group for group in GROUPS if group in names]


def _zone(name: str) -> str:
    try:
        zone_of(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(NO_ZONE) from None
    return name


def zone_of(name: str) -> tzinfo:
    """Return a time zone by its name in the IANA database.

    :raises ZoneInfoNotFoundError, ValueError, OSError: there is none
    """
    return UTC if name == "UTC" else zoneinfo.ZoneInfo(name)


Groups = Annotated[
    list[Group],
    PlainValidator(_groups),
    WithJsonSchema(
        {
            "type": "array",
            "items": {"type": "string", "enum": [*GROUPS]},
            "minItems": 1,
        }
    ),
]
UsageDay = Annotated[Day, Field(ge=DAY_MIN, le=DAY_MAX)]
Zone = Annotated[
    str,
    Field(
        max_length=64,
        pattern=explained(r"^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$", NO_ZONE),
    ),
    AfterValidator(_zone),
]


class UsageFilter(QueryModel):
    """The days, which usage of them, and the fields that it is grouped by.

    Days are those of `time_zone` (a name as `Europe/Berlin`, by default `UTC`), both
    included; by default the last 30. `group_by` is one of `hour`, `day`, `week` (from
    Monday) and `month`, or `agent`, `user`, `provider`, `model`, `priced_as` (the entry
    of the catalog), `pricing_rule` (how it matched), or several with commas; by default
    `day`. `order` is `group`, or the largest first by `cost`, `turns` or `tokens`.
    """

    from_day: UsageDay | None = None
    until_day: UsageDay | None = None
    time_zone: Zone = "UTC"
    group_by: Groups | None = None
    agent_id: UUID | None = None
    user_id: UUID | None = None
    provider: ClientId | None = None
    model: ClientId | None = None
    order: Annotated[
        Order, Field(description="By group, or the largest first by one of the sums.")
    ] = "group"

    @model_validator(mode="after")
    def _days_are_in_order(self) -> Self:
        if self.from_day and self.until_day and self.until_day < self.from_day:
            raise fault_at("until_day", "must not be before from_day")
        return self

    def days(self, now: datetime) -> tuple[date, date]:
        """Return the first and the last day."""
        today = now.astimezone(zone_of(self.time_zone)).date()
        until_day = self.until_day or max(today, self.from_day or today)
        if self.from_day is not None:
            return self.from_day, until_day
        return max(until_day - timedelta(days=DAYS_DEFAULT - 1), DAY_MIN), until_day

    @property
    def form(self) -> Form:
        groups = self.group_by or ["day"]
        return Form(
            period=next((group for group in PERIODS if group in groups), None),
            subjects=tuple(subject for subject in SUBJECTS if subject in groups),
            order=self.order,
        )


class UsageQuery(UsageFilter):
    """As the filter, with what is answered.

    With `compare`, each group has the sums of the period before: of the hour, day, week
    or month before, or without one of these of as many days before. `top` is for
    series: with a period and other groups, those beyond the so many dearest of the
    whole time are one, in which `is_other` is true. `unit_costs` adds the cost by turn,
    session and user.
    """

    compare: bool = False
    top: Annotated[int | None, Field(ge=1, le=TOP_MAX)] = None
    unit_costs: bool = False
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE_DEFAULT
    offset: Annotated[int, Field(ge=0, le=OFFSET_MAX)] = 0

    @model_validator(mode="after")
    def _top_is_of_series(self) -> Self:
        form = super().form
        if self.top is not None and not (form.period and form.subjects):
            raise fault_at("top", "needs a period and another group in group_by")
        if self.top is not None and self.unit_costs:
            raise ValueError("unit_costs can't be combined with top")
        return self

    @property
    def form(self) -> Form:
        return replace(
            super().form, compare=self.compare, is_folded=self.top is not None
        )
