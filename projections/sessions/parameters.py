"""Query parameters of the session list."""

import re
from datetime import date, datetime, timedelta
from typing import Annotated, Self
from uuid import UUID

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    WithJsonSchema,
    model_validator,
)

from projections.sessions.cursor import Cursor, cursor_from_text
from service.http.requests import POSITION_MAX, QueryModel, Timestamp
from service.sessions.ids import ID_CHARACTERS_MAX

WINDOW_DEFAULT = timedelta(days=7)
PAGE_SIZE_DEFAULT = 25
PAGE_SIZE_MAX = 100
# As far as PostgreSQL can count, with room for a page.
OFFSET_MAX = 2**62
PREFIX_PATTERN = r"^[^\x00-\x1f\x7f-\x9f]+$"

# Calendar, week and ordinal dates, each in the extended or the basic format.
_TIMESTAMP = re.compile(
    r"(?P<date>\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}-?\d|(?P<year>\d{4})-?(?P<day>\d{3}))"
    r"([Tt ](?P<time>.+))?",
    re.ASCII,
)
# The end of a day.
_MIDNIGHT = re.compile(r"24(?=(:?00){0,2}([.,]0+)?([Zz+-]|$))")
# A plus sign that wasn't escaped in the query has become a blank.
_LOST_PLUS = re.compile(r"(?<=\d) (?=\d{2}(:?\d{2})?$)")


def _iso_8601(text: str) -> datetime:
    found = _TIMESTAMP.fullmatch(text)
    if found is None:
        raise ValueError("takes an ISO 8601 time, such as 2026-03-01T12:00:00Z")
    try:
        if found["day"] is None:
            day = date.fromisoformat(found["date"])
        else:
            day = date(int(found["year"]), 1, 1) + timedelta(int(found["day"]) - 1)
            if day.year != int(found["year"]):
                raise ValueError("no such day of the year")  # noqa: TRY301
        time = _LOST_PLUS.sub("+", found["time"] or "00").replace("z", "Z")
        ends_day = _MIDNIGHT.match(time)
        if ends_day:
            day, time = day + timedelta(days=1), "00" + time[2:]
        return datetime.fromisoformat(f"{day.isoformat()}T{time}")
    except (ValueError, OverflowError):
        raise ValueError("not a time of the ISO 8601 calendar") from None


def _cursor(text: str) -> Cursor:
    return cursor_from_text(text)


Time = Annotated[Timestamp, BeforeValidator(_iso_8601)]
"""ISO 8601; a date alone is its midnight in UTC."""


class SessionListQuery(QueryModel):
    """Filters of the list, and the page asked for.

    `start_time` opens the window: a session is in it when its last activity is at
    or after that time, by default 7 days before now. `end_time` closes it:
    sessions that started before. `after` is the `end_cursor` of the page before;
    the other parameters are repeated with it.
    """

    start_time: Time | None = None
    end_time: Time | None = None
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE_DEFAULT
    offset: Annotated[int, Field(ge=0, le=OFFSET_MAX)] = 0
    after: (
        Annotated[
            Cursor,
            PlainValidator(_cursor),
            WithJsonSchema({"type": "string", "pattern": "^[A-Za-z0-9_-]{55}$"}),
        ]
        | None
    ) = None
    agent_id: UUID | None = None
    user_id: UUID | None = None
    has_error: bool | None = None
    session_id_prefix: (
        Annotated[str, Field(max_length=ID_CHARACTERS_MAX, pattern=PREFIX_PATTERN)]
        | None
    ) = None
    min_position: Annotated[int, Field(ge=0, le=POSITION_MAX)] | None = None

    @model_validator(mode="after")
    def _window_is_not_empty(self) -> Self:
        if self.start_time and self.end_time and self.end_time <= self.start_time:
            raise ValueError("end_time must be after start_time")
        return self

    def window_start(self, now: datetime) -> datetime:
        """Return the window's start: as given, as the cursor's, or 7 days ago."""
        if self.start_time is not None:
            return self.start_time
        if self.after is not None:
            return self.after.window_start
        return now - WINDOW_DEFAULT
