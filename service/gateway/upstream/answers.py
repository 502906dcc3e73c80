"""Read what an upstream answers, within bounds."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import orjson

from service.gateway.gate import Outcome
from service.gateway.protocol.events import (
    EVENT_BYTES_MAX,
    EventParser,
    EventTooLargeError,
)
from service.gateway.protocol.revisions import EVENT_STREAM, JSON, SESSION_HEADER
from service.gateway.upstream.credential_echo import CredentialEcho
from service.gateway.upstream.errors import (
    CREDENTIAL_RETURNED,
    ENDED,
    HEAD,
    NO_ANSWER,
    NOT_MCP,
    WEB_PAGE,
    RedirectedError,
    UpstreamError,
    bad_status,
    too_large,
    unusable,
)
from service.gateway.upstream.received_messages import parsed_message
from service.gateway.upstream.redirects import STATUSES, target_of
from service.upstream_http.response import HeadTooLargeError, Response

Notified = Callable[[dict[str, Any]], Awaitable[None]]
# Takes the credential of the request, which may be there, out of a message, in place.
Removal = Callable[[dict[str, Any], CredentialEcho], Awaitable[None]]

_NAMED_KINDS: Final = frozenset(
    {"", "text/html", "text/plain", "text/xml", "application/xml"}
)
_RESULT_TWICE: Final = frozenset({"content", "structuredContent"})
SESSION: Final = SESSION_HEADER.lower().encode()


class UpstreamAnswer:
    """The response to one request; ``bytes_read`` is how much of it was received.

    ``url`` is what was requested.
    ``has_notified`` is whether other messages preceded its last one.
    ``bytes_max`` is how large it may be. A result may stand in it twice, as ``content``
    and as ``structuredContent``, and counts once. ``echo`` looks for the credential of
    the request, if it had one; ``exactly`` is of :func:`parsed`.
    """

    def __init__(
        self,
        response: Response,
        url: str,
        bytes_max: int,
        echo: CredentialEcho | None = None,
        *,
        exactly: bool = False,
    ) -> None:
        self._response = response
        self._url = url
        self._exactly = exactly
        self._bytes_max = bytes_max
        self._echo = echo
        self.bytes_read = 0
        self.has_notified = False

    @property
    def status(self) -> int:
        return self._response.status

    @property
    def is_json(self) -> bool:
        return self._response.content_type == JSON

    @property
    def session_id(self) -> str | None:
        return self._response.header(SESSION)

    @property
    def returned_credential(self) -> bool:
        """Whether what was read of it held the credential of the request."""
        return self._echo is not None and self._echo.was_found

    async def last_message(
        self, notified: Notified, removal: Removal | None = None
    ) -> dict[str, Any]:
        """Return the message that isn't a notification; others are passed on.

        The credential of the request is removed from all of them.

        :raises UpstreamError: too late, too large, not MCP, or it ended before; or the
            credential can't be removed
        """
        kind = self._response.content_type
        if kind == EVENT_STREAM:
            return await self._last_event(notified, removal)
        if kind != JSON:
            # Other kinds could be any text of the upstream's.
            named = kind if kind in _NAMED_KINDS else "another content type"
            told = WEB_PAGE if kind == "text/html" else NOT_MCP
            raise unusable(f"status {self.status}, {named}", told)
        data = await self._whole()
        message = await parsed_message(data, exactly=self._exactly)
        if "method" in message:
            raise unusable("no answer")
        message = await self._counted(message)
        if self._echo is not None:
            await remove_credential(self._echo, data, message, removal)
        return message

    async def refusal(self, of: str = "") -> UpstreamError:
        """Return the error of its status; ``of`` is what it answers."""
        if self.status not in STATUSES:
            return bad_status(self.status, of)
        location = self._response.header(b"location")
        target = await target_of(location, self._url, self._echo)
        return RedirectedError(self.status, target)

    async def text(self) -> str:
        """Return a body that isn't MCP.

        :raises UpstreamError: too late, too large, or it ended before
        """
        return (await self._whole()).decode(errors="replace")

    async def _whole(self) -> bytes:
        length = self._response.header(b"content-length")
        if length is not None and int(length) > 2 * self._bytes_max:
            raise too_large(f"more than {self._bytes_max} bytes")
        pieces = []
        while piece := await self._read():
            pieces.append(piece)
        return b"".join(pieces)

    async def _last_event(
        self, notified: Notified, removal: Removal | None
    ) -> dict[str, Any]:
        parser = EventParser(2 * self._bytes_max)
        notified_bytes = 0
        try:
            while piece := await self._read():
                for data in parser.feed(piece):
                    message = await parsed_message(data, exactly=self._exactly)
                    if "method" not in message:
                        message = await self._counted(message)
                        if self._echo is not None:
                            await remove_credential(self._echo, data, message, removal)
                        return message
                    notified_bytes += len(data)
                    if len(data) > EVENT_BYTES_MAX or notified_bytes > self._bytes_max:
                        raise too_large("notifications")
                    if self._echo is not None:
                        await remove_credential(self._echo, data, message)
                    self.has_notified = True
                    await notified(message)
        except EventTooLargeError:
            raise too_large("an event") from None
        raise unusable("the stream ended without an answer", ENDED)

    async def _read(self) -> bytes:
        try:
            piece = await self._response.read()
        except TimeoutError:
            raise UpstreamError(NO_ANSWER, Outcome.TIMEOUT) from None
        except HeadTooLargeError:
            raise too_large(HEAD) from None
        except (OSError, ValueError) as error:
            raise unusable(type(error).__name__, ENDED) from None
        self.bytes_read += len(piece)
        if self.bytes_read > 2 * self._bytes_max:
            raise too_large(f"more than {self._bytes_max} bytes")
        return piece

    async def _counted(self, message: dict[str, Any]) -> dict[str, Any]:
        """Return a message that isn't too large, what stands in it twice counted once.

        :raises UpstreamError: it is
        """
        if self.bytes_read <= self._bytes_max:
            return message
        # Parsing it took a while already.
        await asyncio.sleep(0)
        if self.bytes_read - _twice(message.get("result")) > self._bytes_max:
            raise too_large(f"more than {self._bytes_max} bytes")
        return message


async def remove_credential(
    echo: CredentialEcho,
    data: bytes,
    message: dict[str, Any],
    removal: Removal | None = None,
) -> None:
    """Remove the request's credential from a message, which was parsed from ``data``.

    :raises UpstreamError: it stands where the upstream needs it unchanged
    """
    if await echo.may_be_in(data):
        await (removal or _removed)(message, echo)


async def _removed(message: dict[str, Any], echo: CredentialEcho) -> None:
    state = _request_state(message)
    await echo.remove_from(message)
    if _request_state(message) != state:
        raise unusable("a requestState with the credential", CREDENTIAL_RETURNED)


def _request_state(message: dict[str, Any]) -> Any:
    result = message.get("result")
    return result.get("requestState") if isinstance(result, dict) else None


def _twice(result: Any) -> int:
    """Return how many bytes stand in a result as content and structured, at most."""
    if not isinstance(result, dict) or not result.keys() >= _RESULT_TWICE:
        return 0
    return min(len(orjson.dumps(result[name])) for name in _RESULT_TWICE)


async def ignored(_message: dict[str, Any]) -> None:
    """Take no notice of a notification."""
