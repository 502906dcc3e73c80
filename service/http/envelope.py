"""The envelope of every JSON answer: ``{"data", "message", "status_code"}``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Generic, TypeVar

import orjson
from aiohttp import web
from pydantic import Field

from service.http.direct_response import DirectResponse

JSON = "application/json"
# Datetimes come out as RFC 3339 with Z; UUIDs as text.
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC

UuidText = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
"""A UUID as text, as events and aggregates hold it."""

SecretText = Annotated[str, Field(json_schema_extra={"format": "password"})]
"""A text in an answer that clients must not show or log."""


T_co = TypeVar("T_co", covariant=True)


@dataclass(slots=True, kw_only=True)
class Answer(Generic[T_co]):
    """The answer of a route: the parts of the envelope, and headers.

    ``body`` is set where the envelope is kept as bytes already.
    """

    message: str
    data: T_co
    status: int = 200
    etag: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None


def to_json(value: Any) -> bytes:
    """Render JSON; a Decimal becomes a JSON number with exactly its digits."""
    return orjson.dumps(value, default=_plain, option=_OPTIONS)


def render(answer: Answer[Any]) -> bytes:
    return to_json(
        {
            "data": answer.data,
            "message": answer.message,
            "status_code": answer.status,
        }
    )


def respond(answer: Answer[Any]) -> web.Response:
    headers = dict(answer.headers)
    if answer.etag is not None:
        headers["ETag"] = f'"{answer.etag}"'
    return DirectResponse(
        body=render(answer) if answer.body is None else answer.body,
        status=answer.status,
        headers=headers,
        content_type=JSON,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f"))
    raise TypeError(f"{type(value)} has no JSON form")


def joined(first: bytes, *others: bytes) -> bytes:
    """Join JSON objects, each with members, into one."""
    return b",".join([first[:-1], *(each[1:-1] for each in others)]) + b"}"
