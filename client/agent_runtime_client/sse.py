"""Server-sent events: from text to lines, and from lines to events."""

import re
from typing import Final, NamedTuple

# Not those of str.splitlines(), which also splits at characters of JSON texts.
LINE_END: Final = re.compile(r"\r\n|\n|\r")
# Bounds an event, and a line that has not ended yet.
CHARACTERS_MAX: Final = 16 * 1024 * 1024


class ServerSentEvent(NamedTuple):
    id: str
    data: str


class LineSplitter:
    """Takes the text of a stream as it comes, and returns its lines."""

    def __init__(self) -> None:
        self._rest = ""
        self._is_after_cr = False

    def take(self, text: str) -> list[str]:
        """Return the lines that are whole now.

        :raises ValueError: a line is too long
        """
        if not text:
            return []
        # The second half of a line end whose first half has come before.
        start = 1 if self._is_after_cr and text[0] == "\n" else 0
        self._is_after_cr = text[-1] == "\r"
        *lines, self._rest = LINE_END.split(self._rest + text[start:])
        _require_bounded(len(self._rest))
        return lines


class EventParser:
    """Takes the lines of a stream one by one (WHATWG HTML, section 9.2)."""

    def __init__(self) -> None:
        self._id = ""
        self._data: list[str] = []
        self._size = 0

    def take(self, line: str) -> ServerSentEvent | None:
        """Take a line; return the event that it completes.

        :raises ValueError: the event is too long
        """
        if not line:
            data, self._data, self._size = self._data, [], 0
            return ServerSentEvent(self._id, "\n".join(data)) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            # An empty line takes memory, too.
            self._size += len(value) + 1
            _require_bounded(self._size)
            self._data.append(value)
        elif name == "id":
            self._id = value
        return None


def _require_bounded(characters: int) -> None:
    if characters > CHARACTERS_MAX:
        raise ValueError(f"an event has more than {CHARACTERS_MAX} characters")
