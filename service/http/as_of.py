"""The parameter ``at``: a position of the log, or an ISO 8601 time."""

import re
from contextlib import suppress
from datetime import datetime
from typing import Annotated, Any, Final

from pydantic import (
    BeforeValidator,
    Field,
    PlainValidator,
    WithJsonSchema,
)

from service.http.requests import POSITION_MAX, QueryModel, RequestModel
from service.http.times import A_TIME, read_time

FORM: Final = f"takes a position of the log, or {A_TIME}"


def _read(value: Any) -> int | datetime:
    # JSON has one number type: 42.0 is 42.
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        if 0 <= value <= POSITION_MAX:
            return value
    elif isinstance(value, str):
        with suppress(ValueError):
            return read_time(value)
    raise ValueError(FORM)


def _number_in_text(text: str) -> int | str:
    return int(text) if _DIGITS.fullmatch(text) else text


BodyAt = Annotated[
    int | datetime,
    PlainValidator(_read),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "integer", "minimum": 0, "maximum": POSITION_MAX},
                {"type": "string", "format": "date-time"},
            ]
        }
    ),
]
"""The type of the field ``at`` of a body."""

At = Annotated[BodyAt, BeforeValidator(_number_in_text)]
"""The type of the query parameter ``at``, where a position is text."""


class AtQuery(QueryModel):
    """The query of a reading that has no other parameters."""

    at: At | None = None


class Moment(RequestModel):
    """The body of a restore."""

    at: Annotated[
        BodyAt,
        Field(description="A log position or a time: restore what was then."),
    ]


_DIGITS = re.compile(r"[0-9]{1,19}")
