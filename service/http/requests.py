"""Read path, query, headers and body, or say everything that is wrong with them."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

import orjson
from aiohttp import web
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    TypeAdapter,
    ValidationError,
)

from service.errors import (
    InvalidRequestError,
    MalformedRequestError,
    Problem,
    TooLargeError,
    UnsupportedMediaTypeError,
)

BODY_BYTES_MAX = 1024 * 1024
JSON_DEPTH_MAX = 32
PROBLEMS_MAX = 100
POSITION_MAX = 2**63 - 1

Model = TypeVar("Model", bound=BaseModel)


class RequestModel(BaseModel):
    """A body or a query: unknown fields are refused, values aren't bent to fit."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True
    )


class QueryModel(RequestModel):
    """Query parameters are text, so they are read leniently."""

    model_config = ConfigDict(strict=False)


def _written_as_iso(value: Any) -> Any:
    # pydantic would also read a bare number, as seconds since 1970.
    if not isinstance(value, datetime) and not _ISO_DATE.match(str(value)):
        raise ValueError("not an ISO 8601 time")
    return value


def _in_utc(moment: datetime) -> datetime:
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError("the time is out of range") from None


Moment = Annotated[datetime, BeforeValidator(_written_as_iso), AfterValidator(_in_utc)]
"""ISO 8601 in, UTC inside; a time without a zone means UTC."""


def parse_path(
    request: web.Request, types: Mapping[str, TypeAdapter[Any]]
) -> dict[str, Any]:
    """Read the path's parameters.

    :raises MalformedRequestError: when one isn't of its type
    """
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, adapter in types.items():
        try:
            values[name] = adapter.validate_strings(request.match_info[name])
        except ValidationError as error:
            problems += [
                Problem(name, each["msg"]) for each in error.errors(include_input=False)
            ]
    if problems:
        raise MalformedRequestError("a path parameter is not valid", problems=problems)
    return values


def parse_query(request: web.Request, model: type[Model] | None) -> Model | None:
    """Read the query's parameters.

    :raises MalformedRequestError: when some are unknown, repeated or not valid
    """
    if model is None:
        if request.rel_url.query_string:
            raise MalformedRequestError(
                "this operation takes no query parameters",
                problems=[Problem(name, "unknown parameter") for name in request.query],
            )
        return None
    given: dict[str, str] = {}
    problems: list[Problem] = []
    for name, value in request.query.items():
        if name in given:
            problems.append(Problem(name, "given more than once"))
        given[name] = value
    try:
        parsed = model.model_validate_strings(given)
    except ValidationError as error:
        problems += _problems(error)
    if problems:
        raise MalformedRequestError("a query parameter is not valid", problems=problems)
    return parsed


async def parse_body(request: web.Request, model: type[Model]) -> Model:
    """Read a JSON body.

    :raises UnsupportedMediaTypeError: for anything but plain application/json
    :raises TooLargeError: beyond ``BODY_BYTES_MAX``
    :raises MalformedRequestError: not JSON in UTF-8, or nested too deep
    :raises InvalidRequestError: JSON of another shape; names every fault
    """
    body = await read_json_bytes(request)
    try:
        return model.model_validate_json(body)
    except ValidationError as error:
        _refuse_malformed(body)
        raise InvalidRequestError(
            "the body is not valid", problems=_problems(error)
        ) from None


async def read_json_bytes(request: web.Request) -> bytes:
    """Return a JSON body's bytes; the raises of :func:`parse_body` but the last."""
    if request.content_type != "application/json":
        raise UnsupportedMediaTypeError("the body must be application/json")
    if request.headers.get("Content-Encoding", "identity").lower() != "identity":
        raise UnsupportedMediaTypeError("the body must not be compressed")
    try:
        return await request.read()
    except web.HTTPRequestEntityTooLarge:
        raise TooLargeError(f"a body has at most {BODY_BYTES_MAX} bytes") from None


def _refuse_malformed(body: bytes) -> None:
    """Tell what isn't JSON, or is too deep, from what only has another shape."""
    if _depth(body) > JSON_DEPTH_MAX:
        raise MalformedRequestError(
            f"the body is nested deeper than {JSON_DEPTH_MAX} levels",
            code="json_too_deep",
        )
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedRequestError(
            f"the body is not JSON: {error.msg} (line {error.lineno}, "
            f"column {error.colno})",
            code="not_json",
        ) from None


def _depth(body: bytes) -> int:
    deepest = depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _problems(error: ValidationError) -> list[Problem]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        Problem(_path(each["loc"]), each["msg"].removeprefix("Value error, "))
        for each in found[:PROBLEMS_MAX]
    ]


def _path(location: Sequence[str | int]) -> str:
    """Write a place as ``rules[3].stance``."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else str(part)
    return path


def if_match(request: web.Request) -> int | None:
    """Return the version that If-Match names, or None without the header.

    :raises MalformedRequestError: for anything but one quoted version
    """
    header = request.headers.get("If-Match")
    if header is None:
        return None
    match = _ETAG.fullmatch(header.strip())
    if match is None:
        raise MalformedRequestError(
            'If-Match takes one ETag of this resource, such as "3"',
            problems=[Problem("If-Match", "not an ETag of this service")],
        )
    return int(match[1])


def min_position(request: web.Request) -> int | None:
    """Return the position that a read has to reflect, from X-Min-Position."""
    header = request.headers.get("X-Min-Position")
    if header is None:
        return None
    if not _DIGITS.fullmatch(header) or int(header) > POSITION_MAX:
        raise MalformedRequestError(
            "X-Min-Position takes a position of the log",
            problems=[Problem("X-Min-Position", "not a position")],
        )
    return int(header)


_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
_ETAG = re.compile(r'"(\d{1,18})"')
_DIGITS = re.compile(r"\d{1,19}")
_ISO_DATE = re.compile(r"[0-9]{4}-")
