"""Texts with the escapes of URLs, HTML and JSON undone, and where each stood."""

import html
import re
from array import array
from bisect import bisect_right
from collections.abc import AsyncIterator
from typing import Final

from service.pacing import Pace

# Escaped once more, too: %252F, &amp;#47; and \\u002f. Backslashes, which escape what
# follows, count as nothing, and so do line breaks, into which base64 is broken.
_ESCAPES: Final = (
    r"%(?:25)*([0-9A-Fa-f]{2})"
    r"|&(?:amp;)*(#[0-9]{1,7}|#[xX][0-9A-Fa-f]{1,6}|[A-Za-z]{2,8});"
    r"|\\+(?:u00([2-7][0-9A-Fa-f])|x([2-7][0-9A-Fa-f])|[rn])?"
)
_ESCAPE: Final = re.compile(_ESCAPES)
_ESCAPE_OR_BREAK: Final = re.compile(rf"{_ESCAPES}|[\r\n]+")
_PIECE_CHARACTERS: Final = 256 * 1024
# Few are longer; their beginning is found all the same.
_ESCAPE_CHARACTERS: Final = 64


class Plain:
    """A text with its escapes undone; spans of it are found in the original."""

    __slots__ = ("_after", "_at", "_ends", "_starts", "text")

    def __init__(self) -> None:
        self.text = ""
        # Of each escape: where it stands here, and in the original.
        self._at = array("I")
        self._after = array("I")
        self._starts = array("I")
        self._ends = array("I")

    def add(self, match: re.Match[str], at: int, size: int) -> None:
        self._at.append(at)
        self._after.append(at + size)
        self._starts.append(match.start())
        self._ends.append(match.end())

    def span_in_text(self, start: int, end: int) -> tuple[int, int]:
        """Return where a span that isn't empty stands in the original."""
        return self._place(start)[0], self._place(end - 1)[1]

    def _place(self, index: int) -> tuple[int, int]:
        number = bisect_right(self._at, index) - 1
        if number < 0:
            return index, index + 1
        if index < self._after[number]:
            return self._starts[number], self._ends[number]
        place = self._ends[number] + index - self._after[number]
        return place, place + 1


def has_escapes(text: str) -> bool:
    return any(each in text for each in "%&\\")


def unescaped(text: str) -> str:
    return _ESCAPE.sub(_meant, text)


async def plain_of(text: str, pace: Pace, *, joins_lines: bool = False) -> Plain:
    """Undo the escapes of a text, which may be long."""
    pattern = _ESCAPE_OR_BREAK if joins_lines else _ESCAPE
    plain, pieces, length, end = Plain(), [], 0, 0
    async for match in _escapes(text, pattern, pace):
        before, meant = text[end : match.start()], _meant(match)
        pieces += [before, meant]
        length += len(before)
        plain.add(match, length, len(meant))
        length += len(meant)
        end = match.end()
    plain.text = "".join([*pieces, text[end:]])
    return plain


async def _escapes(
    text: str, pattern: re.Pattern[str], pace: Pace
) -> AsyncIterator[re.Match[str]]:
    """Yield the escapes of a text, searched piece by piece."""
    start = 0
    while start < len(text):
        end = start + _PIECE_CHARACTERS
        found = pattern.search(text, start, end)
        if found is None:
            # One that begins in this piece may end in the next.
            start = end - _ESCAPE_CHARACTERS
        else:
            # As long as it is, also beyond the piece.
            whole = pattern.match(text, found.start()) or found
            yield whole
            start = whole.end()
        await pace.pause()


def _meant(match: re.Match[str]) -> str:
    code = match[1] or match[3] or match[4]
    if code is not None:
        return chr(int(code, 16))
    return html.unescape(f"&{match[2]};") if match[2] is not None else ""
