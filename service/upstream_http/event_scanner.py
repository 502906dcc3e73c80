"""Finds the few events of a stream that matter, while all of it is relayed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

# One of these may have the whole answer in it. A longer one isn't examined.
EVENT_BYTES_MAX: Final = 16 * 1024 * 1024
# Of all streams together that keep the beginnings of events.
KEPT_BYTES_MAX: Final = 128 * 1024 * 1024
# Each event ends with an empty line; a line may end in three ways.
# https://html.spec.whatwg.org/multipage/server-sent-events.html
_END: Final = re.compile(rb"(?:\r\n|\n|\r(?!\n)){2}")
_TO_LAST_END: Final = re.compile(rb"(?s:.*)" + _END.pattern)
# A carriage return at the end of a piece may be half of a line's end.
_TO_LAST_SURE_END: Final = re.compile(rb"(?s:.*)(?:\r\n|\n|\r(?!\n|\Z)){2}")
_USUAL_ENDS: Final = (b"\n\n", b"\r\n\r\n")
# An end that is cut begins at most so many bytes before the cut.
_END_BYTES: Final = 4


class Marker(NamedTuple):
    """Bytes that an event may matter with, unless all of them are also ``unless``."""

    text: bytes
    unless: bytes | None = None

    def is_in(self, piece: bytes) -> bool:
        if self.text not in piece:
            return False
        return self.unless is None or piece.count(self.text) > piece.count(self.unless)


@dataclass(slots=True)
class Room:
    """How many bytes more may be kept, by all scanners that share it."""

    free: int = KEPT_BYTES_MAX


class EventScanner:
    """Takes a stream in pieces, and returns what is to be passed on: whole events.

    ``examine`` gets each event that has a marker; if it returns False, the event is
    withheld. ``has_skipped`` is whether an event was too long to be examined, or there
    was no ``room`` to keep it until its end.
    """

    def __init__(
        self,
        markers: Sequence[Marker],
        examine: Callable[[bytes], bool],
        room: Room | None = None,
    ) -> None:
        self._markers = markers
        self._examine = examine
        self._room = room or Room()
        # Of an event whose end hasn't come.
        self._rest = bytearray()
        self._kept = 0
        self._is_skipping = False
        self._has_withheld = False
        self.has_skipped = False

    @property
    def has_passed_all(self) -> bool:
        """Whether all that came was passed on."""
        return not self._rest and not self._has_withheld

    @property
    def is_within_event(self) -> bool:
        """Whether an event was too long to keep, and its end wasn't passed on yet."""
        return self._is_skipping

    def feed(self, piece: bytes) -> bytes:
        """Return the bytes to pass on."""
        if (
            not self._rest
            and not self._is_skipping
            and piece.endswith(_USUAL_ENDS)
            and not self._is_marked(piece)
        ):
            return piece
        return self._taken_apart(piece, _TO_LAST_SURE_END)

    def end(self, *, whole_events: bool = False) -> bytes:
        """Return what is still to be passed on: an event without an end isn't one.

        It is passed on nevertheless, unless ``whole_events``.
        """
        passed = self._taken_apart(b"", _TO_LAST_END)
        if not whole_events:
            passed += self._rest
        self.close()
        return passed

    def close(self) -> None:
        """Keep nothing any more."""
        self._rest.clear()
        self._room.free += self._kept
        self._kept = 0

    def _taken_apart(self, piece: bytes, to_end: re.Pattern[bytes]) -> bytes:
        """Take in a piece; return what of it, and of the rest, is to be passed on."""
        rest = self._rest
        search_from = max(0, len(rest) - _END_BYTES)
        rest += piece
        passed = b""
        if whole := _end_of_last(rest, search_from, to_end):
            events = bytes(memoryview(rest)[:whole])
            del rest[:whole]
            passed = self._examined(events)
        room = self._room.free + self._kept
        if self._is_skipping or len(rest) > min(EVENT_BYTES_MAX, room):
            self._is_skipping = self.has_skipped = True
            # What may be the beginning of its end stays.
            passed += memoryview(rest)[:-_END_BYTES]
            del rest[:-_END_BYTES]
        self._room.free = room - len(rest)
        self._kept = len(rest)
        return passed

    def _examined(self, events: bytes) -> bytes:
        """Examine whole events; return those that aren't withheld."""
        was_skipping, self._is_skipping = self._is_skipping, False
        if not self._is_marked(events):
            return events
        passed = []
        begin = 0
        for found in _END.finditer(events):
            event = events[begin : found.end()]
            begin = found.end()
            if was_skipping or len(event) > EVENT_BYTES_MAX:
                was_skipping = False
                self.has_skipped = True
                passed.append(event)
            elif not self._is_marked(event) or self._examine(event):
                passed.append(event)
            else:
                self._has_withheld = True
        return b"".join([*passed, events[begin:]])

    def _is_marked(self, piece: bytes) -> bool:
        for marker in self._markers:  # noqa: SIM110  # any() takes twice as long
            if marker.is_in(piece):
                return True
        return False


def _end_of_last(rest: bytearray, start: int, to_end: re.Pattern[bytes]) -> int:
    """Return where the last event in it ends; 0 if none does behind ``start``."""
    # The expression is slow where there is none: most such pieces have no line's end.
    if rest.find(b"\n", start) < 0 and rest.find(b"\r", start) < 0:
        return 0
    found = to_end.match(rest, start)
    return found.end() if found else 0
