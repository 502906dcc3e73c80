"""Server-sent events: from lines to events."""

from typing import NamedTuple


class ServerSentEvent(NamedTuple):
    id: str
    data: str


class EventParser:
    """Takes the lines of a stream one by one (WHATWG HTML, section 9.2)."""

    def __init__(self) -> None:
        self._id = ""
        self._data: list[str] = []

    def take(self, line: str) -> ServerSentEvent | None:
        """Take a line; return the event that it completes."""
        if not line:
            data, self._data = self._data, []
            return ServerSentEvent(self._id, "\n".join(data)) if data else None
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "data":
            self._data.append(value)
        elif name == "id":
            self._id = value
        return None
