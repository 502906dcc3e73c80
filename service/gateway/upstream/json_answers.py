"""Parse the JSON of upstreams: what clients read in it, and no number rounded."""

import json
import re
from typing import Any, Final

import orjson

from service.http.json_body import INTEGER_MAX, INTEGER_MIN

# As long as the least number that 64 bits don't hold. Replacing all digits and
# searching for these is ten times as fast as a regular expression.
_LONG_NUMBER: Final = b"0" * len(str(2**63))
_DIGITS: Final = bytes.maketrans(b"123456789", b"0" * 9)
_KEY_END: Final = b'":'
_DIGITS_MAX: Final = len(str(INTEGER_MAX))
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


class DuplicateKeyError(ValueError):
    """An object has a key twice."""


def parsed(data: bytes, *, exactly: bool = False) -> Any:
    """Return the value of JSON as clients read it.

    A half of a surrogate pair, or a byte that isn't UTF-8, is U+FFFD. If ``exactly``,
    integers beyond 64 bits are kept as they are written, and no key is lost.

    :raises DuplicateKeyError: an object has a key twice
    :raises ValueError: not JSON
    """
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError:
        data = _mended(data)
        value = orjson.loads(data)
    return value if not exactly or _is_exact(data, value) else _decoded(data)


def _is_exact(data: bytes, value: Any) -> bool:
    """Say whether no pair was lost, and no integer rounded; False if it isn't clear."""
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        raise ValueError("too deep") from None
    # Most servers write so. Others write spaces, hardly behind just so many keys as
    # they write twice.
    return written == data or (
        data.count(_KEY_END) == written.count(_KEY_END)
        and _LONG_NUMBER not in data.translate(_DIGITS)
    )


def _decoded(data: bytes) -> Any:
    return _DECODER.decode(data.decode())


def _mended(data: bytes) -> bytes:
    """Return JSON that orjson reads.

    :raises ValueError: not JSON
    """
    try:
        # Whole pairs are joined here.
        value = json.loads(data.decode("utf-8-sig", "replace"))
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        raise ValueError("too deep") from None
    return _SURROGATE.sub("\ufffd", text).encode()


def _exactly(digits: str) -> Any:
    if len(digits) <= _DIGITS_MAX and INTEGER_MIN <= int(digits) <= INTEGER_MAX:
        return int(digits)
    return orjson.Fragment(digits.encode())


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise DuplicateKeyError
    return found


_DECODER: Final = json.JSONDecoder(object_pairs_hook=_object, parse_int=_exactly)
