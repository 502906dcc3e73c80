"""Parse path, query and headers; a refusal names every problem."""

import re
from collections.abc import Mapping
from datetime import datetime
from functools import cache, lru_cache
from types import NoneType
from typing import Annotated, Any, ClassVar, TypeVar, get_args, get_origin
from urllib.parse import unquote_to_bytes

from aiohttp import web
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
)

from service.errors import MalformedRequestError, Problem
from service.http.times import with_plus
from service.http.validation_errors import (
    PROBLEMS_MAX,
    explained,
    problems_of,
    shown_name,
)

POSITION_MAX = 2**63 - 1
# Headers of which the service reads one value.
SINGLE = frozenset(
    {
        b"authorization",
        b"content-encoding",
        b"content-type",
        b"idempotency-key",
        b"if-match",
        b"last-event-id",
        b"traceparent",
        b"x-log-epoch",
        b"x-min-position",
        b"x-request-id",
    }
)
NO_NUL = "must not contain U+0000"
# Control characters, line separators, and those that change the text direction:
# a list would show a name with one of them wrongly.
_UNPRINTABLE = r"\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069"
NAME_PATTERN = explained(
    rf"^[^\s{_UNPRINTABLE}]([^{_UNPRINTABLE}]*[^\s{_UNPRINTABLE}])?$",
    "must be one line of printable characters, without spaces around it",
)

Model = TypeVar("Model", bound=BaseModel)
Name = Annotated[str, Field(min_length=1, max_length=128, pattern=NAME_PATTERN)]
"""A name for people, on one line and without surrounding spaces."""


class RequestModel(BaseModel):
    """A body or a query: unknown fields are refused, values are not coerced."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, hide_input_in_errors=True
    )

    # False where the name of an unknown field could be a secret.
    NAMES_SHOWN: ClassVar[bool] = True


class QueryModel(RequestModel):
    """Query parameters are text, so values are coerced; numbers only from digits."""

    model_config = ConfigDict(strict=False)

    @field_validator("*", mode="before")
    @classmethod
    def _numbers_and_times(cls, value: Any, field: ValidationInfo) -> Any:
        kind: Any = cls.model_fields[field.field_name or ""].annotation
        if _is_int(kind):
            return _in_digits(value)
        if isinstance(value, str) and _is_time(kind):
            return with_plus(value)
        return value


def _in_digits(value: Any) -> Any:
    # pydantic would accept 1_0 as 10, and 5.0 as 5.
    if not _INTEGER.fullmatch(str(value)):
        raise ValueError("takes a whole number in decimal digits, such as 25")
    return value


@lru_cache(maxsize=256)
def _is_time(kind: Any) -> bool:
    """Return whether a type is a time, or has times among others."""
    return kind is datetime or any(map(_is_time, get_args(kind)))


@lru_cache(maxsize=256)
def _is_int(kind: Any) -> bool:
    """Return whether a type is int, or an optional or bounded int."""
    if get_origin(kind) is Annotated:
        return _is_int(get_args(kind)[0])
    members = {*get_args(kind)} - {NoneType}
    return all(map(_is_int, members)) if members else kind is int


def path_parameter(kind: Any) -> TypeAdapter[Any]:
    """Return the parser of a path parameter, as strict as that of a query parameter."""
    digits: Any = Annotated[kind, BeforeValidator(_in_digits)]
    return TypeAdapter(digits if _is_int(kind) else kind)


def parse_path(
    request: web.Request, types: Mapping[str, TypeAdapter[Any]]
) -> dict[str, Any]:
    """Parse the path parameters.

    :raises MalformedRequestError: one isn't of its type
    """
    values: dict[str, Any] = {}
    problems: list[Problem] = []
    for name, adapter in types.items():
        given = request.match_info[name]
        if "\0" in given:
            problems.append(Problem(name, NO_NUL))
        try:
            # Skips the adapter's own wrapper function.
            values[name] = adapter.validator.validate_strings(given)  # type: ignore[arg-type]  # text is one
        except ValidationError as error:
            problems += [Problem(name, each.message) for each in problems_of(error)]
    if problems:
        raise MalformedRequestError("a path parameter is not valid", problems=problems)
    return values


def parse_query(request: web.Request, model: type[Model] | None) -> Model | None:
    """Parse the query parameters.

    :raises MalformedRequestError: some are unknown, repeated or not valid
    """
    raw = request.rel_url.raw_query_string
    if not raw:
        if model is None:
            return None
        defaults: Model | None = _defaults(model)
        if defaults is not None:
            return defaults
    _refuse_other_encoding(raw)
    if model is None:
        raise MalformedRequestError(
            "this operation takes no query parameters",
            problems=[
                Problem(shown_name(name), "unknown parameter")
                for name in dict.fromkeys(request.query)
            ][:PROBLEMS_MAX],
        )
    given: dict[str, str] = {}
    problems: list[Problem] = []
    for name, value in request.query.items():
        if name in given:
            problems.append(Problem(shown_name(name), "given more than once"))
        if "\0" in value:
            problems.append(Problem(shown_name(name), NO_NUL))
        given[name] = value
    try:
        parsed = model.model_validate_strings(given)
    except ValidationError as error:
        problems += problems_of(error)
    if problems:
        raise MalformedRequestError(
            "a query parameter is not valid", problems=problems[:PROBLEMS_MAX]
        )
    return parsed


@cache
def _defaults(model: type[BaseModel]) -> Any:
    """Return the query of a request without parameters; None if one is required."""
    try:
        return model.model_validate_strings({})
    except ValidationError:
        return None


def _refuse_other_encoding(raw: str) -> None:
    """Refuse a query that would be read with replacement characters."""
    if "%" not in raw and raw.isascii():
        return
    try:
        unquote_to_bytes(raw).decode()
    except UnicodeError:
        raise MalformedRequestError(
            "the query is not UTF-8, percent-encoded",
            problems=[Problem("query", "not UTF-8")],
        ) from None


def refuse_repeated_headers(request: web.Request) -> None:
    """Refuse a header twice of which only one value would be read.

    :raises MalformedRequestError: some are repeated
    """
    names = [name.lower() for name, _ in request.raw_headers]
    if len({*names}) == len(names):
        return
    repeated = sorted({each for each in names if names.count(each) > 1} & SINGLE)
    if repeated:
        raise MalformedRequestError(
            "a header is given more than once",
            problems=[
                Problem(each.decode().title(), "given more than once")
                for each in repeated
            ],
        )


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


_INTEGER = re.compile(r"-?[0-9]+")
# A proxy that compresses an answer makes its ETag weak.
_ETAG = re.compile(r'(?:W/)?"([0-9]{1,18})"')
_DIGITS = re.compile(r"[0-9]{1,19}")
