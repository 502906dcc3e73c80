"""Live events that go on after a lost connection."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

import httpx

from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client.encoding import parse_json
from agent_runtime_client.errors import UnreadableAnswerError
from agent_runtime_client.operation import Operation
from agent_runtime_client.sse import EventParser, LineSplitter, ServerSentEvent

T = TypeVar("T")

# The least time between two attempts to open a stream that ends at once.
PAUSE_S: Final = 0.5


class AsyncEventStream(Generic[T]):
    """Iterate over it for events as they happen, without an end.

    ``position`` is that of the last event; after an error, ``after=stream.position``
    continues behind it. A lost connection is opened again by itself. Leaving a
    ``with`` block closes the stream.
    """

    def __init__(
        self,
        caller: AsyncCaller,
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
        self._events: AsyncIterator[ServerSentEvent] | None = None
        self.position: int | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while True:
            events = await self._connection()
            try:
                async for event in events:
                    decoded = self._decode(parse_json(event.data.encode()))
                    self.position = int(event.id)
                    return decoded
            except httpx.RequestError:
                # Opening it again fails with what is wrong, if it is more than that.
                pass
            except (ValueError, KeyError, TypeError):
                await self.close()
                raise UnreadableAnswerError(
                    f"an event of {self._operation.name} can't be read",
                    code="unreadable_answer",
                ) from None
            await self.close()
            await asyncio.sleep(PAUSE_S)

    async def close(self) -> None:
        """Close the connection; asking for the next event opens it again."""
        if self._answer is not None:
            await self._answer.aclose()
        self._answer = self._events = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _connection(self) -> AsyncIterator[ServerSentEvent]:
        """Return the events that come, over a connection that is opened if need be."""
        if self._events is not None:
            return self._events
        query = self._query
        if self.position is not None:
            query = {**query, "after": self.position}
        call = self._caller.call(self._operation, path=self._path, query=query)
        self._answer = await self._caller.send(call, stream=True)
        if self.position is None and "X-Event-Position" in self._answer.headers:
            self.position = int(self._answer.headers["X-Event-Position"])
        self._events = _events_of(self._answer)
        return self._events


async def _events_of(answer: httpx.Response) -> AsyncIterator[ServerSentEvent]:
    splitter, parser = LineSplitter(), EventParser()
    async for text in answer.aiter_text():
        for line in splitter.take(text):
            event = parser.take(line)
            if event is not None:
                yield event
