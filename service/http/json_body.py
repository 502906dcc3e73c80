"""Parse JSON bodies into models, and name every fault."""

import contextlib
import json
from collections.abc import Iterator
from itertools import islice
from typing import Any, TypeVar

import orjson
from aiohttp import web
from pydantic import BaseModel, ValidationError

from service.errors import InvalidRequestError, MalformedRequestError, Problem
from service.http.body import read_json_bytes
from service.http.json_bounds import (
    JSON_DEPTH_MAX,
    JSON_VALUES_MAX,
    bounded,
    refuse_deep,
    without_strings,
)
from service.http.requests import NO_NUL
from service.http.validation_errors import (
    HIDDEN_NAME,
    PROBLEMS_MAX,
    path_of,
    problems_of,
    shown_name,
)
from service.pacing import turn_for

# Smaller bodies can't hold too many values.
BYTES_UNCOUNTED_MAX = JSON_VALUES_MAX
INTEGER_MIN = -(2**63)
INTEGER_MAX = 2**64 - 1

Model = TypeVar("Model", bound=BaseModel)


async def parse_body(request: web.Request, model: type[Model]) -> Model:
    """Read a JSON body.

    :raises UnsupportedMediaTypeError: for anything but plain application/json
    :raises TooLargeError: beyond ``BODY_BYTES_MAX``
    :raises MalformedRequestError: not JSON in UTF-8, nested too deep, or with a key
        twice in one object
    :raises InvalidRequestError: JSON of another shape; names every fault
    """
    body = await read_json_bytes(request)
    parsed = parse_json(body, model)
    # What comes of a large one takes as long again.
    await turn_for(len(body))
    return parsed


def parse_json(body: bytes, model: type[Model]) -> Model:
    """Parse JSON; raises what :func:`parse_body` does about the bytes themselves.

    A model names every key, so the depth of a body that it accepts is bounded.
    """
    outside = None
    if len(body) > BYTES_UNCOUNTED_MAX:
        outside = bounded(body)
    try:
        # A model may parse JSON itself: prices keep every digit.
        parsed = model.model_validate_json(body)
    except ValidationError as error:
        outside = without_strings(body) if outside is None else outside
        _refuse_malformed(body, outside, model)
        problems = problems_of(error, names_shown=_names_shown(model))
        named = {problem.path for problem in problems}
        problems += [each for each in _nul_problems(body) if each.path not in named]
        raise InvalidRequestError(
            "the body is not valid", problems=problems[:PROBLEMS_MAX]
        ) from None
    _refuse_duplicates(body, model)
    if problems := _nul_problems(body):
        raise InvalidRequestError(
            "a text of the body contains U+0000", code="nul_in_text", problems=problems
        )
    return parsed


def parse_document(body: bytes, values_max: int = JSON_VALUES_MAX) -> Any:
    """Parse JSON of any shape, within the bounds of all bodies; its own for values.

    :raises MalformedRequestError: not JSON, too large or too deep, a key twice in one
        object, or an integer beyond 64 bits, which would be rounded
    """
    if len(body) > min(values_max, BYTES_UNCOUNTED_MAX):
        refuse_deep(bounded(body, values_max))
    elif body.count(b"{") + body.count(b"[") > JSON_DEPTH_MAX:
        refuse_deep(without_strings(body))
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _not_json(error) from None
    if orjson.dumps(parsed) == body:
        # Most clients write so. No pair was lost, and no integer was rounded.
        return parsed
    try:
        _DOCUMENT_DECODER.decode(body.decode())
    except _DuplicateKeyError:
        raise MalformedRequestError(
            "an object of the body has a key twice", code="duplicate_key"
        ) from None
    return parsed


def _refuse_malformed(body: bytes, outside: bytes, model: type[BaseModel]) -> None:
    """Reject bodies that aren't JSON, or nested too deep."""
    refuse_deep(outside)
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _not_json(error) from None
    _refuse_duplicates(body, model)


def _refuse_duplicates(body: bytes, model: type[BaseModel]) -> None:
    """Reject duplicate keys: pydantic takes the last of them silently.

    ``body`` is valid JSON.
    """
    with contextlib.suppress(orjson.JSONDecodeError):
        # What most clients write is the same when written again: no pair was lost.
        if orjson.dumps(orjson.loads(body)) == body:
            return
    try:
        _KEYS_DECODER.decode(body.decode())
    except _DuplicateKeyError as error:
        is_shown = _names_shown(model) or error.key in model.model_fields
        name = shown_name(error.key) if is_shown else HIDDEN_NAME
        raise MalformedRequestError(
            "an object of the body has a key twice",
            code="duplicate_key",
            problems=[Problem(name, "given more than once")],
        ) from None


def _names_shown(model: type[BaseModel]) -> bool:
    return getattr(model, "NAMES_SHOWN", True)


def _not_json(error: orjson.JSONDecodeError) -> MalformedRequestError:
    return MalformedRequestError(
        f"the body is not JSON: {error.msg} (line {error.lineno}, "
        f"column {error.colno})",
        code="not_json",
    )


def _in_64_bits(digits: str) -> str:
    if (
        len(digits) > len(str(INTEGER_MAX))
        or not INTEGER_MIN <= int(digits) <= INTEGER_MAX
    ):
        raise MalformedRequestError(
            f"an integer must be between {INTEGER_MIN} and {INTEGER_MAX}; send longer "
            "ones as strings",
            code="integer_too_large",
        )
    return digits


class _DuplicateKeyError(Exception):
    def __init__(self, key: str) -> None:
        super().__init__("duplicate key")
        self.key = key


def _refuse_duplicate_keys(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) == len(pairs):
        return
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _DuplicateKeyError(key)
        seen.add(key)


def _nul_problems(body: bytes) -> list[Problem]:
    """Find the texts with U+0000, which PostgreSQL can't store, in valid JSON."""
    if b"\\u0000" not in body:
        return []
    found = islice(_locations_of_nul(orjson.loads(body), ()), PROBLEMS_MAX)
    return [Problem(path_of(location), NO_NUL) for location in found]


def _locations_of_nul(
    value: Any, location: tuple[str | int, ...]
) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, str):
        if "\0" in value:
            yield location
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from _locations_of_nul(each, (*location, number))
    elif isinstance(value, dict):
        for name, each in value.items():
            if "\0" in name:
                yield (*location, HIDDEN_NAME)
            yield from _locations_of_nul(each, (*location, name))


# Numbers stay text: Python refuses to convert very long ones.
_KEYS_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_duplicate_keys, parse_int=str, parse_float=str
)
_DOCUMENT_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_duplicate_keys, parse_int=_in_64_bits, parse_float=str
)
