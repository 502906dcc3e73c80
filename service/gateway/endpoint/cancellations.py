"""Calls that clients with a handshake cancel by a message, in whichever process."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Final

from aiohttp import web

from service.agent_tokens.caller import Caller
from service.gateway.endpoint.client_sessions import name_of
from service.gateway.protocol.messages import RequestId, is_request_id
from service.http.disconnect import cancel_work

CANCELLED: Final = "notifications/cancelled"


@dataclass(slots=True)
class Cancellations:
    """The calls of this process that may be cancelled.

    A call is named by its token, its client's ``Mcp-Session-Id`` and its id. Without a
    session several clients may use one id: what could mean more than one call means
    none. ``announce`` tells the other processes of a call that isn't here.
    """

    announce: Callable[[Sequence[str]], Awaitable[None]]
    _calls: dict[str, list[web.Request]] = field(default_factory=dict)

    @contextmanager
    def cancellable(
        self, request: web.Request, caller: Caller, request_id: RequestId
    ) -> Iterator[None]:
        """Let the call of a request be cancelled during the block.

        Then its work ends as if its client had disconnected.
        """
        name = name_of(request, caller, request_id)
        same = self._calls.setdefault(name, [])
        same.append(request)
        try:
            yield
        finally:
            same.remove(request)
            if not same:
                del self._calls[name]

    async def cancel(
        self, request: web.Request, caller: Caller, request_id: object
    ) -> None:
        """Cancel a call of the client that sends this request, wherever it is.

        A call that isn't known, or has ended, is no error: messages may cross.
        """
        if not is_request_id(request_id):
            return
        name = name_of(request, caller, request_id)
        if not self.cancel_here(name):
            await self.announce([name])

    def cancel_here(self, name: str) -> bool:
        """Cancel a call of this process; return whether it is here."""
        calls = self._calls.get(name, [])
        if len(calls) == 1:
            cancel_work(calls[0])
        return bool(calls)
