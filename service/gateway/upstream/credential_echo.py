"""Find the credential of a request in what its upstream answers, and remove it.

Looked for are the header's value, the secret without its scheme, and the user and
password of ``Basic``: as they are, in base64 at any offset, in hex, and with any of
their characters escaped as in URLs, HTML, or JSON within a text.
"""

import base64
import binascii
import json
import re
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any, Final

import orjson
from pydantic import SecretStr

from service.gateway.gate import Upstream
from service.gateway.upstream.escapes import has_escapes, plain_of, unescaped
from service.pacing import Pace

REMOVED: Final = "[credential removed]"
# Shorter ones are found in ordinary texts.
CHARACTERS_MIN: Final = 8
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,31}")
# Characters of JSON that may spell others: only then texts are searched one by one.
_MARKS: Final = (b"%", b"&", b"\\u00", b"\\/", b"\\x")
# Between two pauses of a search in bytes.
_PIECE_BYTES: Final = 512 * 1024
_BASE64: Final = frozenset(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
)
_URL_SAFE: Final = str.maketrans("+/", "-_")
# By offset in a group of 3 bytes: characters of base64 that depend on those before.
_DEPENDENT: Final = (0, 2, 3)
# More digits are no number of JSON.
_DIGITS_MAX: Final = 300

Span = tuple[int, int]
Edges = tuple[bool, bool]


async def add_credential(
    headers: dict[str, str], upstream: Upstream
) -> "CredentialEcho | None":
    """Add an upstream's credential to headers; return what finds it in the answer.

    :raises ServiceError: it can't be revealed
    """
    credential = upstream.credential
    if credential is None:
        return None
    value = await credential.reveal()
    headers[credential.header] = value.get_secret_value()
    return CredentialEcho(value)


class CredentialEcho:
    """Looks for one value of a header; ``was_found`` says whether it ever was there."""

    __slots__ = ("_header", "_needles", "was_found")

    def __init__(self, header: SecretStr) -> None:
        self._header = header
        self._needles: _Needles | None = None
        self.was_found = False

    async def may_be_in(self, raw: bytes) -> bool:
        """Say whether JSON may hold it; only then its texts need to be searched."""
        needles = self._compiled()
        if needles.are_unusual:
            return True
        if not needles.in_bytes:
            return False
        overlap, pace = 2 * needles.longest, Pace()
        size = max(_PIECE_BYTES, overlap)
        for start in range(0, len(raw), size):
            piece = raw
            if len(raw) > size + overlap:
                piece = raw[start : start + size + overlap]
            if any(mark in piece for mark in _MARKS) or any(
                needle in piece for needle in needles.in_bytes
            ):
                return True
            # A long text in base64 has lines.
            if b"\\n" in piece:
                joined = _joined(piece)
                if any(needle in joined for needle in needles.in_bytes):
                    return True
            if piece is raw:
                return False
            await pace.pause()
        return False

    async def remove_from(self, document: Any) -> bool:
        """Remove it from the texts, keys and numbers of an object or array, in place.

        Return whether there was anything to remove.
        """
        pace, containers = Pace(), [document]
        found = False
        while containers:
            each = containers.pop()
            is_object = isinstance(each, dict)
            members: Iterable[tuple[Any, Any]] = (
                each.items() if is_object else enumerate(each)
            )
            cleaned, is_changed = [], False
            for key, value in members:
                new_key = await self._cleaned(key, pace) if is_object else key
                new_value = value
                if isinstance(value, dict | list):
                    containers.append(value)
                else:
                    new_value = await self._cleaned(value, pace)
                is_changed |= new_key is not key or new_value is not value
                cleaned.append((new_key, new_value))
            if not is_changed:
                continue
            found = True
            if is_object:
                each.clear()
                each.update(cleaned)
            else:
                each[:] = [value for _, value in cleaned]
        self.was_found |= found
        return found

    async def _cleaned(self, value: Any, pace: Pace) -> Any:
        """Return a text, number or constant without the credential, or itself."""
        await pace.pause()
        needles = self._compiled()
        if isinstance(value, str):
            return await _without(value, needles, pace)
        if needles.digits and isinstance(value, orjson.Fragment):
            # An integer beyond 64 bits, as it was written.
            digits = orjson.dumps(value).decode()
            return REMOVED if any(each in digits for each in needles.digits) else value
        if needles.numbers and isinstance(value, int | float):
            is_it = value in needles.numbers or any(
                needle in str(value) for needle in needles.digits
            )
            return REMOVED if is_it else value
        return value

    def _compiled(self) -> "_Needles":
        if self._needles is None:
            self._needles = _Needles(self._header.get_secret_value())
        return self._needles


class _Needles:
    """What to look for.

    ``are_unusual``: JSON can spell them in ways that a search in bytes doesn't find.
    """

    def __init__(self, header: str) -> None:
        values = _values_of(header)
        self.in_base64 = {
            part: edges
            for value in values
            for part, edges in _in_base64(value.encode())
        }
        in_hex = [value.encode().hex() for value in values]
        others = [*in_hex, *(each.upper() for each in in_hex)]
        # As forms spell it.
        others += [value.replace(" ", "+") for value in values if " " in value]
        self.in_texts = _distinct([*values, *others])
        self.digits = [value for value in values if value.isdecimal()]
        self.numbers = {
            number
            for value in self.digits
            if len(value) <= _DIGITS_MAX and not value.startswith("0")
            for number in (int(value), float(value))
        }
        self.are_unusual = bool(self.digits) or any(
            json.dumps(value)[1:-1] != value for value in values
        )
        self.in_bytes = [each.encode() for each in (*self.in_texts, *self.in_base64)]
        self.longest = max(map(len, self.in_bytes), default=0)

    @cached_property
    def in_escaped(self) -> list[str]:
        """What is looked for in texts whose escapes are undone: undone as well."""
        plain = _distinct(map(unescaped, self.in_texts))
        return [each for each in plain if len(each) >= CHARACTERS_MIN]

    def are_in_lines(self, text: str) -> bool:
        """Say whether lines that are joined hold the value in base64."""
        joined = text.replace("\r", "").replace("\n", "")
        return any(each in joined for each in self.in_base64)


def _values_of(header: str) -> list[str]:
    scheme, _, secret = header.partition(" ")
    values = [header]
    if secret and _SCHEME.fullmatch(scheme):
        values.append(secret)
        if scheme.lower() == "basic":
            values += _user_and_password(secret)
    return _distinct(each for each in values if len(each) >= CHARACTERS_MIN)


def _user_and_password(secret: str) -> list[str]:
    try:
        decoded = base64.b64decode(secret, validate=True).decode()
    except (binascii.Error, ValueError):
        return []
    return [decoded, decoded.partition(":")[2]]


def _in_base64(value: bytes) -> Iterable[tuple[str, Edges]]:
    """Return the characters that depend on nothing but the value, at each offset.

    And whether those before and behind them depend on some bits of it.
    """
    for offset, dependent in enumerate(_DEPENDENT):
        size = offset + len(value)
        encoded = base64.b64encode(bytes(offset) + value).decode()
        part = encoded[dependent : size * 8 // 6]
        for spelled in (part, part.translate(_URL_SAFE)):
            yield spelled, (offset > 0, size % 3 > 0)


def _joined(piece: bytes) -> bytes:
    """Return JSON without the line breaks of its texts, and of JSON within them."""
    for each in (b"\\r", b"\\n", b"\\"):
        piece = piece.replace(each, b"")
    return piece


def _distinct(values: Iterable[str]) -> list[str]:
    return [*dict.fromkeys(values)]


async def _without(text: str, needles: _Needles, pace: Pace) -> str:
    """Return a text without what is looked for; itself where there is nothing."""
    spans = await _found(text, needles.in_texts, needles.in_base64, pace)
    if has_escapes(text):
        plain = await plain_of(text, pace)
        found = await _found(plain.text, needles.in_escaped, needles.in_base64, pace)
        spans += [plain.span_in_text(*span) for span in found]
    if "\n" in text and needles.are_in_lines(text):
        plain = await plain_of(text, pace, joins_lines=True)
        found = await _found(plain.text, (), needles.in_base64, pace)
        spans += [plain.span_in_text(*span) for span in found]
    if not spans:
        return text
    pieces: list[str] = []
    end = 0
    for start, after in sorted(spans):
        # One text stands for those that overlap or touch.
        if start > end or not pieces:
            pieces += [text[end:start], REMOVED]
        end = max(end, after)
        await pace.pause()
    return "".join([*pieces, text[end:]])


async def _found(
    text: str, needles: Iterable[str], in_base64: Mapping[str, Edges], pace: Pace
) -> list[Span]:
    spans: list[Span] = []
    for needle in needles:
        spans += await _occurrences(text, needle, pace)
    for needle, edges in in_base64.items():
        found = await _occurrences(text, needle, pace)
        spans += [_with_edges(text, span, edges) for span in found]
    return spans


async def _occurrences(text: str, needle: str, pace: Pace) -> list[Span]:
    spans = []
    start = text.find(needle)
    while start >= 0:
        end = start + len(needle)
        spans.append((start, end))
        start = text.find(needle, end)
        await pace.pause()
    if len(text) > _PIECE_BYTES:
        await pace.pause()
    return spans


def _with_edges(text: str, span: Span, edges: Edges) -> Span:
    """Include characters beside base64 that have bits of the value, and padding."""
    (start, end), (before, behind) = span, edges
    if before and text[start - 1 : start] in _BASE64:
        start -= 1
    if behind and text[end : end + 1] in _BASE64:
        end += 1
    padding = text[end : end + 2]
    return start, end + len(padding) - len(padding.lstrip("="))
