"""Live events that go on after a lost connection."""
# Made by "make generated"; do not edit.

import time
from collections.abc import Callable, Iterator, Mapping
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

import httpx

from agent_runtime_client._sync.caller import Caller
from agent_runtime_client.encoding import parse_json
from agent_runtime_client.errors import UnreadableAnswerError
from agent_runtime_client.operation import Operation
from agent_runtime_client.sse import EventParser, LineSplitter, ServerSentEvent

T = TypeVar("T")

# The least time between two attempts to open a stream that ends at once.
PAUSE_S: Final = 0.5


class EventStream(Generic[T]):
    """Iterate over it for events as they happen, without an end.

    ``position`` is that of the last event; after an error, ``after=stream.position``
    continues behind it. A lost connection is opened again by itself. Leaving a
    ``with`` block closes the stream.
    """

    def __init__(
        self,
        caller: Caller,
        operation: Operation,
        decode: Callable[[Any], T],
        *,
        query: Mapping[str, Any],
        path: Mapping[str, Any] | None = None,
    ) -> None:
        self._caller = caller
        self._operation = operation
        self._decode = decode
        self._path = path
        self._query = dict(query)
        self._answer: httpx.Response | None = None
        self._events: Iterator[ServerSentEvent] | None = None
        self.position: int | None = None

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> T:
        while True:
            events = self._connection()
            try:
                for event in events:
                    decoded = self._decode(parse_json(event.data.encode()))
                    self.position = int(event.id)
                    return decoded
            except httpx.RequestError:
                # Opening it again fails with what is wrong, if it is more than that.
                pass
            except (ValueError, KeyError, TypeError):
                self.close()
                raise UnreadableAnswerError(
                    f"an event of {self._operation.name} can't be read",
                    code="unreadable_answer",
                ) from None
            self.close()
            time.sleep(PAUSE_S)

    def close(self) -> None:
        """Close the connection; asking for the next event opens it again."""
        if self._answer is not None:
            self._answer.close()
        self._answer = self._events = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _connection(self) -> Iterator[ServerSentEvent]:
        """Return the events that come, over a connection that is opened if need be."""
        if self._events is not None:
            return self._events
        query = self._query
        if self.position is not None:
            query = {**query, "after": self.position}
        call = self._caller.call(self._operation, path=self._path, query=query)
        self._answer = self._caller.send(call, stream=True)
        if self.position is None and "X-Event-Position" in self._answer.headers:
            self.position = int(self._answer.headers["X-Event-Position"])
        self._events = _events_of(self._answer)
        return self._events


def _events_of(answer: httpx.Response) -> Iterator[ServerSentEvent]:
    splitter, parser = LineSplitter(), EventParser()
    for text in answer.iter_text():
        for line in splitter.take(text):
            event = parser.take(line)
            if event is not None:
                yield event
