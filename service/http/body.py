"""Read and validate request bodies."""

import asyncio
import json
import re
import zlib
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import islice
from typing import Any, NoReturn, TypeVar

import orjson
from aiohttp import web
from pydantic import BaseModel, ValidationError

from service.errors import (
    InvalidRequestError,
    MalformedRequestError,
    Problem,
    TooLargeError,
    UnavailableError,
    UnsupportedMediaTypeError,
)
from service.http.requests import NO_NUL
from service.http.validation_errors import (
    HIDDEN_NAME,
    PROBLEMS_MAX,
    path_of,
    problems_of,
    shown_name,
)

BODY_BYTES_MAX = 1024 * 1024
BODY_TIMEOUT_S = 30
JSON_DEPTH_MAX = 32
# A batch of 1,000 rules has 4,000 values, and 12,000 quotes.
JSON_VALUES_MAX = 5_000
JSON_QUOTES_MAX = 50_000
JSON_BYTES_UNCOUNTED_MAX = JSON_VALUES_MAX
INTEGER_MIN = -(2**63)
INTEGER_MAX = 2**64 - 1
# Exporters send one.
GZIP_MEMBERS_MAX = 16
# zlib's: the largest window, with a gzip header.
_GZIP_WINDOW_BITS = 16 + zlib.MAX_WBITS

Model = TypeVar("Model", bound=BaseModel)


async def parse_body(request: web.Request, model: type[Model]) -> Model:
    """Read a JSON body.

    :raises UnsupportedMediaTypeError: for anything but plain application/json
    :raises TooLargeError: beyond ``BODY_BYTES_MAX``
    :raises MalformedRequestError: not JSON in UTF-8, nested too deep, or with a key
        twice in one object
    :raises InvalidRequestError: JSON of another shape; names every fault
    """
    return parse_json(await read_json_bytes(request), model)


def parse_json(body: bytes, model: type[Model]) -> Model:
    """Parse JSON; raises what :func:`parse_body` does about the bytes themselves.

    A model names every key, so the depth of a body that it accepts is bounded.
    """
    outside = None
    if len(body) > JSON_BYTES_UNCOUNTED_MAX:
        outside = _bounded(body)
    names_shown: bool = getattr(model, "NAMES_SHOWN", True)
    known = frozenset(model.model_fields)
    try:
        # A model may parse JSON itself: prices keep every digit.
        parsed = model.model_validate_json(body)
    except ValidationError as error:
        outside = _without_strings(body) if outside is None else outside
        _refuse_malformed(body, outside, known, names_shown=names_shown)
        problems = problems_of(error, names_shown=names_shown)
        named = {problem.path for problem in problems}
        problems += [each for each in _nul_problems(body) if each.path not in named]
        raise InvalidRequestError(
            "the body is not valid", problems=problems[:PROBLEMS_MAX]
        ) from None
    _refuse_duplicates(body, known, names_shown=names_shown)
    if problems := _nul_problems(body):
        raise InvalidRequestError(
            "a text of the body contains U+0000", code="nul_in_text", problems=problems
        )
    return parsed


def parse_document(body: bytes) -> Any:
    """Parse JSON of any shape, within the bounds of all bodies.

    :raises MalformedRequestError: not JSON, too large or too deep, a key twice in one
        object, or an integer beyond 64 bits, which would be rounded
    """
    if len(body) > JSON_BYTES_UNCOUNTED_MAX:
        _refuse_deep(_bounded(body))
    elif body.count(b"{") + body.count(b"[") > JSON_DEPTH_MAX:
        _refuse_deep(_without_strings(body))
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _not_json(error) from None
    try:
        _DOCUMENT_DECODER.decode(body.decode())
    except _DuplicateKeyError:
        raise MalformedRequestError(
            "an object of the body has a key twice", code="duplicate_key"
        ) from None
    return parsed


async def read_json_bytes(request: web.Request) -> bytes:
    """Return the bytes of a JSON body.

    :raises UnsupportedMediaTypeError: for anything but plain application/json

    It also raises what :func:`read_bytes` does.
    """
    # Most clients send exactly this, which needs no parser.
    if request.headers.get("Content-Type") == "application/json":
        return await read_bytes(request)
    if request.content_type != "application/json":
        raise UnsupportedMediaTypeError("the body must be application/json")
    charset = request.charset
    if charset is not None and charset.lower() not in ("utf-8", "us-ascii"):
        raise UnsupportedMediaTypeError("the body must be in UTF-8")
    return await read_bytes(request)


async def read_bytes(request: web.Request) -> bytes:
    """Return an uncompressed body of any type.

    :raises UnsupportedMediaTypeError: it is compressed
    :raises TooLargeError: it has more than ``BODY_BYTES_MAX``
    :raises MalformedRequestError: the client disconnected before its end
    :raises UnavailableError: the upload took more than ``BODY_TIMEOUT_S``
    """
    await _ask_for_body(request, BODY_BYTES_MAX)
    try:
        if request.content.is_eof():
            return await request.read()
        async with asyncio.timeout(BODY_TIMEOUT_S):
            return await request.read()
    except web.HTTPRequestEntityTooLarge:
        _refuse_large(BODY_BYTES_MAX)
    except ConnectionError:
        raise MalformedRequestError("the body ended too early") from None
    except TimeoutError:
        raise UnavailableError(
            f"the body took more than {BODY_TIMEOUT_S} s",
            code="upload_too_slow",
            headers={"Retry-After": "1"},
        ) from None


async def read_upload(
    request: web.Request, bytes_max: int, *, may_be_gzip: bool = False
) -> bytes:
    """Return a body with a size limit of its own, also of its decompressed form.

    Raises what :func:`read_bytes` does. An operation that uses it must take no
    Idempotency-Key, which would need the body a second time.

    :raises MalformedRequestError: a body declared as gzip is not gzip, or not all of it
    """
    await _ask_for_body(request, bytes_max, may_be_gzip=may_be_gzip)
    body = bytearray()
    async for chunk in request.content.iter_any():
        body += chunk
        if len(body) > bytes_max:
            _refuse_large(bytes_max)
    if request.headers.get("Content-Encoding", "identity").lower() == "gzip":
        return await asyncio.to_thread(_gunzip, bytes(body), bytes_max)
    return bytes(body)


def _gunzip(body: bytes, bytes_max: int) -> bytes:
    """Decompress a gzip stream of one or more members (RFC 1952)."""
    inflated = bytearray()
    members = 0
    while body:
        # Each member copies the rest of the body: thousands would take hours.
        members += 1
        if members > GZIP_MEMBERS_MAX:
            _refuse_not_gzip()
        member = zlib.decompressobj(_GZIP_WINDOW_BITS)
        try:
            inflated += member.decompress(body, bytes_max + 1 - len(inflated))
        except zlib.error:
            _refuse_not_gzip()
        if len(inflated) > bytes_max:
            _refuse_large(bytes_max)
        if not member.eof:
            _refuse_not_gzip()
        body = member.unused_data
    return bytes(inflated)


def _refuse_not_gzip() -> NoReturn:
    raise MalformedRequestError(
        "the body can't be decompressed", code="not_gzip"
    ) from None


async def _ask_for_body(
    request: web.Request, bytes_max: int, *, may_be_gzip: bool = False
) -> None:
    headers = request.headers
    coding = headers.get("Content-Encoding", "identity").lower()
    if coding != "identity" and not (coding == "gzip" and may_be_gzip):
        raise UnsupportedMediaTypeError(
            "the body must not be compressed"
            + (" by anything but gzip" if may_be_gzip else "")
        )
    if (request.content_length or 0) > bytes_max:
        _refuse_large(bytes_max)
    if "Expect" in headers and not request.content.is_eof():
        await request.writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        # aiohttp must not take this for the start of the response.
        request.writer.output_size = 0


async def continue_when_read(request: web.Request) -> None:
    """Send no 100 Continue yet: :func:`read_bytes` does so, after authentication."""


async def refuse_body(request: web.Request) -> None:
    """Reject any body other than an empty one or ``{}``.

    :raises MalformedRequestError: an operation without a body got one
    """
    body = await read_bytes(request)
    if body.strip() not in (b"", b"{}"):
        raise MalformedRequestError(
            "this operation takes no body", code="unexpected_body"
        )


def _refuse_large(bytes_max: int) -> NoReturn:
    raise TooLargeError(f"a body has at most {bytes_max} bytes") from None


def _bounded(body: bytes) -> bytes:
    """Bound what parsing, and finding every fault, takes of the event loop.

    Strings may have any length: they cost little. Counts quotes first, since each
    string that is left out costs something as well. Returns the body without strings.
    """
    if body.count(b'"') <= JSON_QUOTES_MAX:
        outside = _without_strings(body)
        values = sum(map(outside.count, (b",", b"[", b"{")))
        if values <= JSON_VALUES_MAX:
            return outside
        _refuse_deep(outside[:JSON_VALUES_MAX])
    raise MalformedRequestError(
        f"the body has more than {JSON_VALUES_MAX} values, or {JSON_QUOTES_MAX} quotes",
        code="json_too_large",
    )


def _without_strings(body: bytes) -> bytes:
    return _STRINGS.sub(b"", body)


def _refuse_malformed(
    body: bytes, outside: bytes, known: AbstractSet[str], *, names_shown: bool
) -> None:
    """Reject bodies that aren't JSON, or nested too deep."""
    _refuse_deep(outside)
    try:
        orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise _not_json(error) from None
    _refuse_duplicates(body, known, names_shown=names_shown)


def _refuse_duplicates(
    body: bytes, known: AbstractSet[str], *, names_shown: bool
) -> None:
    """Reject duplicate keys: pydantic takes the last of them silently.

    ``body`` is valid JSON.
    """
    try:
        _KEYS_DECODER.decode(body.decode())
    except _DuplicateKeyError as error:
        is_shown = names_shown or error.key in known
        name = shown_name(error.key) if is_shown else HIDDEN_NAME
        raise MalformedRequestError(
            "an object of the body has a key twice",
            code="duplicate_key",
            problems=[Problem(name, "given more than once")],
        ) from None


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


def _refuse_deep(outside: bytes) -> None:
    """Reject too deep nesting; ``outside`` is a body without its strings."""
    depth = 0
    for bracket in _BRACKETS.findall(outside):
        depth += 1 if bracket in b"[{" else -1
        if depth > JSON_DEPTH_MAX:
            raise MalformedRequestError(
                f"the body is nested deeper than {JSON_DEPTH_MAX} levels",
                code="json_too_deep",
            )


# Numbers stay text: Python refuses to convert very long ones.
_KEYS_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_duplicate_keys, parse_int=str, parse_float=str
)
_DOCUMENT_DECODER = json.JSONDecoder(
    object_pairs_hook=_refuse_duplicate_keys, parse_int=_in_64_bits, parse_float=str
)
# Possessive, and to the end where the closing quote is missing: linear in any body.
_STRINGS = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+"?', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
