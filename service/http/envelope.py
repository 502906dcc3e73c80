"""The one shape of every answer: ``{"data", "message", "status_code"}``."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any

import orjson
from aiohttp import web
from pydantic import Field

JSON = "application/json"
# Datetimes come out as RFC 3339 with Z; UUIDs as text.
_OPTIONS = orjson.OPT_UTC_Z | orjson.OPT_NAIVE_UTC

UuidText = Annotated[str, Field(json_schema_extra={"format": "uuid"})]
"""A UUID that is text already, as states and events hold it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a route answers, before it is bytes."""

    message: str
    data: Any = None
    status: int = 200
    etag: int | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


def to_json(value: Any) -> bytes:
    """Render JSON; a Decimal becomes a JSON number with exactly its digits."""
    return orjson.dumps(value, default=_plain, option=_OPTIONS)


def render(answer: Answer) -> bytes:
    return to_json(
        {
            "data": answer.data,
            "message": answer.message,
            "status_code": answer.status,
        }
    )


def respond(answer: Answer, body: bytes | None = None) -> web.Response:
    """Return the HTTP response of an answer, or of its bytes where they exist."""
    headers = dict(answer.headers)
    if answer.etag is not None:
        headers["ETag"] = f'"{answer.etag}"'
    return web.Response(
        body=render(answer) if body is None else body,
        status=answer.status,
        headers=headers,
        content_type=JSON,
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Decimal):
        return orjson.Fragment(format(value, "f"))
    raise TypeError(f"{type(value)} has no JSON form")


def joined(first: bytes, second: bytes) -> bytes:
    """Join two JSON objects, each with members, into one."""
    return b"%b,%b" % (first[:-1], second[1:])
