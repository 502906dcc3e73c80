"""Read a JSON body, or say what is wrong with it."""

import asyncio
import json
import re
from typing import Any, NoReturn, TypeVar

import orjson
from aiohttp import web
from aiohttp.http_exceptions import ContentEncodingError
from pydantic import BaseModel, ValidationError

from service.errors import (
    InvalidRequestError,
    MalformedRequestError,
    Problem,
    TooLargeError,
    UnavailableError,
    UnsupportedMediaTypeError,
)
from service.http.body_keys import shape_of
from service.http.validation_errors import problems_of, shown_name

BODY_BYTES_MAX = 1024 * 1024
BODY_TIMEOUT_S = 30
JSON_DEPTH_MAX = 32

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
    """Read JSON; raises what :func:`parse_body` does of the bytes themselves."""
    try:
        # A model may read JSON in its own way: prices keep every digit.
        parsed = model.model_validate_json(body)
    except ValidationError as error:
        _refuse_malformed(body)
        raise InvalidRequestError(
            "the body is not valid", problems=problems_of(error)
        ) from None
    shape = shape_of(model)
    if shape.is_open:
        _refuse_malformed(body)
    elif b"\\" in body or not shape.each_key_once(parsed, body):
        _read_strictly(body)
    return parsed


async def read_json_bytes(request: web.Request) -> bytes:
    """Return a JSON body's bytes; raises what :func:`parse_body` does, but the last."""
    # The usual spelling needs no parser.
    if request.headers.get("Content-Type") == "application/json":
        return await read_bytes(request)
    if request.content_type != "application/json":
        raise UnsupportedMediaTypeError("the body must be application/json")
    charset = request.charset
    if charset is not None and charset.lower() not in ("utf-8", "us-ascii"):
        raise UnsupportedMediaTypeError("the body must be in UTF-8")
    return await read_bytes(request)


async def read_bytes(request: web.Request) -> bytes:
    """Return an uncompressed body of whatever type.

    :raises UnsupportedMediaTypeError: when it is compressed
    :raises TooLargeError: beyond ``BODY_BYTES_MAX``, as soon as that is known
    :raises MalformedRequestError: when the caller goes away in the middle of it
    :raises UnavailableError: when it takes more than ``BODY_TIMEOUT_S``
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
    """Return a body that may be larger than others, within a bound of its own.

    Raises what :func:`read_bytes` does. The bound is on what comes out of a
    compressed body too, which is never decompressed further than that. An operation
    that takes one must take no Idempotency-Key, for which the body would be read
    again.

    :raises MalformedRequestError: what is said to be gzip is not
    """
    await _ask_for_body(request, bytes_max, may_be_gzip=may_be_gzip)
    body = bytearray()
    try:
        async for chunk in request.content.iter_any():
            body += chunk
            if len(body) > bytes_max:
                _refuse_large(bytes_max)
    except (ContentEncodingError, web.RequestPayloadError):
        raise MalformedRequestError(
            "the body can't be decompressed", code="not_gzip"
        ) from None
    return bytes(body)


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
        # Only what follows is the answer: aiohttp would think it has begun.
        request.writer.output_size = 0


async def continue_when_read(request: web.Request) -> None:
    """Ask for a body only in :func:`read_bytes`: after authentication."""


async def refuse_body(request: web.Request) -> None:
    """Let pass nothing but an empty body, or an empty object.

    :raises MalformedRequestError: for an operation that takes no body, but gets one
    """
    body = await read_bytes(request)
    if body.strip() not in (b"", b"{}"):
        raise MalformedRequestError(
            "this operation takes no body", code="unexpected_body"
        )


def _refuse_large(bytes_max: int) -> NoReturn:
    raise TooLargeError(f"a body has at most {bytes_max} bytes") from None


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
    _read_strictly(body)


def _read_strictly(body: bytes) -> None:
    """Refuse keys that stand twice, and U+0000, which PostgreSQL can't store.

    Takes JSON that has been read without complaint.
    """
    # Numbers stay text: Python refuses to read very long ones.
    json.loads(body, object_pairs_hook=_each_once, parse_int=str, parse_float=str)
    if b"\\u0000" in body and _holds_nul(orjson.loads(body)):
        raise InvalidRequestError(
            "a text of the body contains U+0000", code="nul_in_text"
        )


def _each_once(pairs: list[tuple[str, Any]]) -> None:
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise MalformedRequestError(
                "an object of the body has a key twice",
                code="duplicate_key",
                problems=[Problem(shown_name(key), "given more than once")],
            )
        seen.add(key)


def _holds_nul(value: Any) -> bool:
    if isinstance(value, str):
        return "\0" in value
    if isinstance(value, list):
        return any(map(_holds_nul, value))
    if isinstance(value, dict):
        return any(map(_holds_nul, value)) or any(map(_holds_nul, value.values()))
    return False


def _depth(body: bytes) -> int:
    deepest = depth = 0
    for bracket in _BRACKETS.findall(_STRINGS.sub(b"", body)):
        depth += 1 if bracket in b"[{" else -1
        deepest = max(deepest, depth)
    return deepest


_STRINGS = re.compile(rb'"(?:[^"\\]|\\.)*"', re.DOTALL)
_BRACKETS = re.compile(rb"[\[\]{}]")
