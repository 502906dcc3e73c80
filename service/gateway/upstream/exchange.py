"""One request to an upstream, and its answer."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractContextManager
from http import HTTPStatus
from types import TracebackType
from typing import Any, Final, Self

import orjson

from service.gateway.gate import Upstream
from service.gateway.protocol.messages import RequestId, is_request_id
from service.gateway.upstream.answers import Notified, Removal, UpstreamAnswer
from service.gateway.upstream.client import Channel, UpstreamClient
from service.gateway.upstream.errors import (
    OTHER_ID,
    SAY_NOT_MCP,
    SessionEndedError,
    UpstreamError,
    refused,
    unusable,
)
from service.gateway.upstream.lost_sessions import (
    code_of,
    is_about_call,
    is_invalid_request,
    says_lost,
)
from service.gateway.upstream.posts import Post
from service.gateway.upstream.requests import UpstreamRequest, body_of, headers_of
from service.gateway.upstream.standalone_streams import Take

# A request's session isn't there, and nothing was done, unless the body answers it.
_SESSION_GONE: Final = (HTTPStatus.NOT_FOUND, HTTPStatus.GONE)
# What these say counts more than the error in their body.
_OF_CREDENTIALS: Final = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class Exchange:
    """A request on a channel and its answer; sent when the block begins.

    ``upstream`` has the credential to send, and may be newer than the channel's; see
    :class:`Post`. ``id`` is also its progress token.

    :raises UpstreamError: it wasn't answered, or not by MCP
    :raises ServiceError: the credential can't be revealed
    """

    __slots__ = (
        "_answer",
        "_channel",
        "_client",
        "_pong",
        "_post",
        "_upstream",
        "id",
        "request_bytes",
    )

    _answer: UpstreamAnswer

    def __init__(
        self,
        client: UpstreamClient,
        upstream: Upstream,
        channel: Channel,
        request: UpstreamRequest,
    ) -> None:
        dialect = channel.dialect
        self.id = next(client.ids)
        body = body_of(dialect, request, self.id)
        self.request_bytes = len(body)
        self._client = client
        self._upstream = upstream
        self._channel = channel
        self._pong: asyncio.Task[None] | None = None
        headers = headers_of(dialect, request)
        self._post = Post(
            client.connections,
            upstream,
            headers,
            body,
            connection=channel.connection,
            is_decided=channel.agent_client is not None,
        )

    @property
    def answer_bytes(self) -> int:
        """How much of the answer was received."""
        return self._answer.bytes_read

    async def __aenter__(self) -> Self:
        try:
            self._answer = await self._post.__aenter__()
        except BaseException as error:
            self._channel.release()
            if isinstance(error, asyncio.CancelledError):
                self.cancel()
            raise
        try:
            if self._answer.status != HTTPStatus.OK:
                await self._check_status()
        except BaseException as error:
            await self._post.__aexit__(type(error), error, None)
            raise
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if isinstance(error, asyncio.CancelledError):
            self.cancel()
        if self._answer.returned_credential:
            self._client.on_returned_credential(self._upstream)
        await self._post.__aexit__(kind, error, trace)

    async def answer(
        self, notified: Notified, removal: Removal | None = None
    ) -> dict[str, Any]:
        """Return the answer; each message before it is passed on, but pings.

        Neither has the credential that was sent; ``removal`` is another way to take it
        out of the answer.

        :raises UpstreamError: no answer
        """

        async def received(message: dict[str, Any]) -> None:
            if message["method"] == "ping" and "id" in message:
                self._answer_ping(message["id"])
            else:
                await notified(message)

        message: dict[str, Any] = {}
        try:
            message = await self._answer.last_message(received, removal)
        except UpstreamError as error:
            if self._is_session_gone:
                raise SessionEndedError(self._answer.status) from None
            if error.message not in SAY_NOT_MCP:
                raise
            self._doubt()
            if self._answer.status == HTTPStatus.OK:
                raise
            raise await self._answer.refusal() from None
        finally:
            status = self._answer.status
            if status == HTTPStatus.BAD_REQUEST and not self._is_about_call(message):
                self._forget()
        await self._check(message)
        return message

    @property
    def is_stateless(self) -> bool:
        return self._channel.dialect.is_stateless

    def taking_questions(self, take: Take) -> AbstractContextManager[None]:
        """Return a block during which ``take`` gets what the upstream asks beside."""
        streams, dialect = self._client.handshake.streams, self._channel.dialect
        assert self._channel.agent_client is not None, "only calls are asked"
        return streams.taking_questions(
            self._upstream, dialect, self._channel.agent_client, take
        )

    def silence_allowed(self) -> AbstractContextManager[None]:
        """Return a block during which the upstream waits for an answer itself."""
        return self._channel.connection.silence_allowed()

    async def respond(self, number: RequestId, outcome: Mapping[str, Any]) -> None:
        """Send the answer to what the upstream has asked, ``result`` or ``error``.

        :raises UpstreamError: it can't be sent, or is refused
        :raises ServiceError: the credential can't be revealed
        """
        body = orjson.dumps({"jsonrpc": "2.0", "id": number, **outcome})
        dialect = self._channel.dialect
        await self._client.handshake.send(self._upstream, dialect, body, "an answer")

    async def _check(self, message: dict[str, Any]) -> None:
        """Refuse a message that answers no request, or not this one.

        :raises UpstreamError: it doesn't answer it
        """
        if self._is_session_gone and not self._is_answer(message):
            raise SessionEndedError(self._answer.status)
        if message.get("error") is not None:
            await self._check_session(message["error"])
            if self._answer.status in _OF_CREDENTIALS:
                raise await self._answer.refusal()
            if message.get("id") is None:
                # It couldn't tell which request it refuses.
                raise refused(code_of(message["error"]))
        if message.get("id") != self.id:
            raise unusable("the answer has another id", OTHER_ID)

    async def _check_status(self) -> None:
        """Raise what a status that isn't 200 means, unless the body says it."""
        status, dialect = self._answer.status, self._channel.dialect
        if status >= HTTPStatus.BAD_REQUEST and self._answer.is_json:
            # Errors of JSON-RPC. Another server may be there by now; with status 400,
            # the body says whether it understood the request.
            if status != HTTPStatus.BAD_REQUEST:
                self._forget()
            return
        self._forget()
        if self._is_session_gone or (
            status == HTTPStatus.BAD_REQUEST
            and dialect.session_id is not None
            and says_lost(await self._answer.text())
        ):
            raise SessionEndedError(status)
        raise await self._answer.refusal()

    async def _check_session(self, error: Any) -> None:
        """Forget a session that the server has lost, by its error.

        :raises SessionEndedError: it has lost it, and has done nothing
        """
        if not says_lost(error):
            if not is_about_call(error):
                self._doubt()
            return
        if not is_about_call(error):
            self._forget()
        if self._answer.has_notified:
            return  # It was at work.
        dialect, status = self._channel.dialect, self._answer.status
        # Anything else may be of a session that the tool itself has.
        if is_invalid_request(
            error, status, dialect
        ) or await self._client.handshake.is_refused(self._upstream, dialect):
            self._forget()
            raise SessionEndedError(status)

    @property
    def _is_session_gone(self) -> bool:
        session_id, status = self._channel.dialect.session_id, self._answer.status
        return session_id is not None and status in _SESSION_GONE

    def _is_answer(self, message: dict[str, Any]) -> bool:
        """Say whether a call was taken, although its status says otherwise."""
        if self._is_about_call(message):
            return not says_lost(message["error"])
        return message.get("id") == self.id and "result" in message

    def _is_about_call(self, message: dict[str, Any]) -> bool:
        """Say whether a refusal is of what the request says, not of how."""
        return message.get("id") == self.id and is_about_call(message.get("error"))

    def _forget(self) -> None:
        upstream, dialect = self._channel.upstream, self._channel.dialect
        self._client.dialects.forget(upstream, self._channel.agent_client, dialect)

    def _doubt(self) -> None:
        """Forget the session unless the server still knows it."""
        if self._channel.agent_client is None:
            # Observing tools leaves nothing in a session.
            self._forget()
        else:
            self._client.beside.check_session(
                self._upstream, self._channel.agent_client, self._channel.dialect
            )

    def _answer_ping(self, ping_id: Any) -> None:
        """Answer a server with handshake, one ping at a time."""
        if not is_request_id(ping_id) or self.is_stateless:
            return
        if self._pong is None or self._pong.done():
            self._pong = self._client.beside.answer_ping(
                self._upstream, self._channel.dialect, ping_id
            )

    def cancel(self) -> None:
        """Tell a server with a handshake that its answer isn't waited for any more."""
        if not self.is_stateless:
            dialect = self._channel.dialect
            self._client.beside.cancel(self._upstream, dialect, self.id)
