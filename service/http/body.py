"""Read the bytes of request bodies, within bounds."""

import asyncio
import zlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import NoReturn

from aiohttp import web

from service.errors import (
    RETRY_LATER,
    MalformedRequestError,
    TooLargeError,
    UnavailableError,
    UnsupportedMediaTypeError,
)
from service.http.app_keys import WAITS
from service.pacing import in_thread, turn_for

BODY_BYTES_MAX = 1024 * 1024
# Exporters send one.
GZIP_MEMBERS_MAX = 16
# zlib's: the largest window, with a gzip header.
_GZIP_WINDOW_BITS = 16 + zlib.MAX_WBITS


async def read_json_bytes(request: web.Request) -> bytes:
    """Return the bytes of a JSON body, in a turn of the event loop to parse them.

    :raises UnsupportedMediaTypeError: for anything but plain application/json

    It also raises what :func:`read_bytes` does.
    """
    # Most clients send exactly this, which needs no parser.
    if request.headers.get("Content-Type") != "application/json":
        if request.content_type != "application/json":
            raise UnsupportedMediaTypeError("the body must be application/json")
        charset = request.charset
        if charset is not None and charset.lower() not in ("utf-8", "us-ascii"):
            raise UnsupportedMediaTypeError("the body must be in UTF-8")
    body = await read_bytes(request)
    await turn_for(len(body))
    return body


async def read_bytes(request: web.Request) -> bytes:
    """Return an uncompressed body of any type.

    :raises UnsupportedMediaTypeError: it is compressed
    :raises TooLargeError: it has more than ``BODY_BYTES_MAX``
    :raises MalformedRequestError: the client disconnected before its end, or it isn't
        valid chunked coding
    :raises UnavailableError: it took too long
    """
    await _ask_for_body(request, BODY_BYTES_MAX)
    try:
        if request.content.is_eof():
            return await request.read()
        async with uploading(request):
            return await request.read()
    except web.HTTPRequestEntityTooLarge:
        _refuse_large(BODY_BYTES_MAX)
    except ConnectionError:
        raise MalformedRequestError("the body ended too early") from None


@asynccontextmanager
async def uploading(request: web.Request, *, times: int = 1) -> AsyncIterator[None]:
    """Bound the time of an upload, which may be ``times`` as long as of most.

    :raises UnavailableError: it took too long
    """
    wait_s = times * request.config_dict[WAITS].body_s
    try:
        async with asyncio.timeout(wait_s):
            yield
    except TimeoutError:
        raise UnavailableError(
            f"the body took more than {wait_s:g} s",
            code="upload_too_slow",
            headers=RETRY_LATER,
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
        return await in_thread(_gunzip, bytes(body), bytes_max)
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
