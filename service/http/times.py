"""Times and days of requests, in the forms of ISO 8601."""

import re
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any, Final

from pydantic import PlainValidator, WithJsonSchema

A_TIME: Final = "an ISO 8601 time, such as 2026-03-01T12:00:00Z"
TIME_FORM: Final = f"takes {A_TIME}"
DAY_FORM: Final = "takes an ISO 8601 date, such as 2026-03-01"

# RFC 3339, which nearly every client sends.
_COMMON = re.compile(
    r"\d{4}-\d\d-\d\dT(?!24)\d\d:\d\d:\d\d(\.\d{1,6})?(Z|[+-]\d\d:\d\d)", re.ASCII
)
# Calendar, week and ordinal dates, each in the extended or the basic format.
_DATE = (
    r"(?P<date>\d{4}-?\d{2}-?\d{2}|\d{4}-?W\d{2}-?\d|(?P<year>\d{4})-?(?P<day>\d{3}))"
)
_DAY = re.compile(_DATE, re.ASCII)
_TIME = re.compile(rf"{_DATE}([Tt ](?P<time>.+))?", re.ASCII)
# The end of a day.
_MIDNIGHT = re.compile(r"24(?=(:?00){0,2}([.,]0+)?([Zz+-]|$))")
# A plus sign that wasn't escaped in a query has become a blank.
_LOST_PLUS = re.compile(r"(.+[Tt ].*\d) (\d{2}(:?\d{2})?)", re.ASCII)


def read_time(text: str) -> datetime:
    """Parse ISO 8601 into UTC: no zone means UTC, no time midnight.

    :raises ValueError: it is another form, or no time of the calendar
    """
    try:
        if _COMMON.fullmatch(text):
            time = datetime.fromisoformat(text)
        else:
            time = _other_form(text)
        return time.astimezone(UTC) if time.tzinfo else time.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise ValueError(TIME_FORM) from None


def read_day(text: str) -> date:
    """Parse an ISO 8601 date.

    :raises ValueError: it is another form, or no day of the calendar
    """
    found = _DAY.fullmatch(text)
    try:
        if found is not None:
            return _day(found)
    except (ValueError, OverflowError):
        pass
    raise ValueError(DAY_FORM)


def with_plus(text: str) -> str:
    """Return the time of a query with the plus sign of its offset."""
    found = _LOST_PLUS.fullmatch(text)
    return f"{found[1]}+{found[2]}" if found else text


def _other_form(text: str) -> datetime:
    found = _TIME.fullmatch(text)
    if found is None:
        raise ValueError(text)
    day, time = _day(found), (found["time"] or "00").replace("z", "Z")
    if _MIDNIGHT.match(time):
        day, time = day + timedelta(days=1), "00" + time[2:]
    return datetime.fromisoformat(f"{day.isoformat()}T{time}")


def _day(found: re.Match[str]) -> date:
    if found["day"] is None:
        return date.fromisoformat(found["date"])
    day = date(int(found["year"]), 1, 1) + timedelta(int(found["day"]) - 1)
    if day.year != int(found["year"]):
        raise ValueError(found["date"])
    return day


def _time(value: Any) -> datetime:
    if isinstance(value, datetime):
        value = value.isoformat()
    # A number would be taken as seconds since 1970, and as milliseconds by others.
    if not isinstance(value, str):
        raise ValueError(TIME_FORM)  # noqa: TRY004 # pydantic reports ValueError
    return read_time(value)


Timestamp = Annotated[
    datetime,
    PlainValidator(_time),
    WithJsonSchema({"type": "string", "format": "date-time"}),
]
"""ISO 8601 in, UTC inside; a time without a zone means UTC."""

Day = Annotated[
    date,
    PlainValidator(read_day),
    WithJsonSchema({"type": "string", "format": "date"}),
]
"""An ISO 8601 date, in a query."""
