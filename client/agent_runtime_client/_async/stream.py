"""Live events that go on after a lost connection."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeVar

import httpx

from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client.encoding import parse_json
from agent_runtime_client.operation import Operation
from agent_runtime_client.sse import EventParser

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
        self._lines: AsyncIterator[str] | None = None
        self._parser = EventParser()
        self.position: int | None = None

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> T:
        while True:
            try:
                async for line in await self._connection():
                    event = self._parser.take(line)
                    if event is not None:
                        self.position = int(event.id)
                        return self._decode(parse_json(event.data.encode()))
            except httpx.RequestError:
                # Opening it again fails with what is wrong, if it is more than that.
                pass
            await self.close()
            await asyncio.sleep(PAUSE_S)

    async def close(self) -> None:
        """Close the connection; asking for the next event opens it again."""
        if self._answer is not None:
            await self._answer.aclose()
        self._answer = self._lines = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    async def _connection(self) -> AsyncIterator[str]:
        """Return the lines that come, over a connection that is opened if need be."""
        if self._lines is not None:
            return self._lines
        query = self._query
        if self.position is not None:
            query = {**query, "after": self.position}
        call = self._caller.call(self._operation, path=self._path, query=query)
        self._answer = await self._caller.send(call, stream=True)
        if self.position is None and "X-Event-Position" in self._answer.headers:
            self.position = int(self._answer.headers["X-Event-Position"])
        self._parser = EventParser()
        self._lines = self._answer.aiter_lines()
        return self._lines
