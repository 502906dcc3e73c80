"""Messages of upstreams, parsed within bounds."""

from typing import Any, Final

import orjson

from service.gateway.upstream.errors import DUPLICATE_KEY, too_large, unusable
from service.gateway.upstream.json_answers import DuplicateKeyError, parsed
from service.http.json_bounds import JSON_STRING
from service.pacing import Pace

# As deep as the API, too, can show a definition; orjson reads deeper than it writes.
LEVELS_MAX: Final = 128
ORJSON_LEVELS_MAX: Final = 254
# Larger ones are counted before they are parsed, which holds the event loop.
BYTES_UNCOUNTED_MAX: Final = 256 * 1024
VALUES_MAX: Final = 50_000


async def parsed_message(data: bytes, *, exactly: bool) -> dict[str, Any]:
    """Return a message; ``exactly`` is of :func:`parsed`.

    :raises UpstreamError: it is none, or too large or deep to go on with
    """
    if len(data) > BYTES_UNCOUNTED_MAX:
        await _refuse_many_values(data)
    try:
        message = _parsed(data, exactly=exactly)
    except DuplicateKeyError:
        raise unusable("a key twice in one object", DUPLICATE_KEY) from None
    except ValueError:
        raise unusable("not JSON") from None
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        raise unusable("not a JSON-RPC message")
    if data.count(b"[") + data.count(b"{") > LEVELS_MAX and _is_deep(message):
        raise unusable(f"more than {LEVELS_MAX} levels")
    return message


def _parsed(data: bytes, *, exactly: bool) -> Any:
    """Return the value of JSON; what isn't an answer needn't be exact.

    :raises ValueError: not JSON, or an answer that would lose a value
    """
    try:
        return parsed(data, exactly=exactly)
    except DuplicateKeyError:
        message = parsed(data)
        if isinstance(message, dict) and "method" in message:
            return message
        raise


def _is_deep(message: Any) -> bool:
    """Say whether a message has more levels than ``LEVELS_MAX``, as orjson counts."""
    for _ in range(ORJSON_LEVELS_MAX - LEVELS_MAX):
        message = [message]
    try:
        orjson.dumps(message)
    except orjson.JSONEncodeError:
        return True
    return False


async def _refuse_many_values(data: bytes) -> None:
    """Reject an answer that would hold the event loop for long; long texts don't."""
    values, end, pace = 0, 0, Pace()
    for text in JSON_STRING.finditer(data):
        between = data[end : text.start()]
        values += sum(map(between.count, (b",", b"[", b"{")))
        end = text.end()
        if values > VALUES_MAX:
            break
        await pace.pause()
    values += sum(map(data[end:].count, (b",", b"[", b"{")))
    if values > VALUES_MAX:
        raise too_large(f"more than {VALUES_MAX} values")
