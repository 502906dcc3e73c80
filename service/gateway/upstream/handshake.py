"""Find out which revision an upstream speaks, and begin sessions."""

import asyncio
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Any, Final

import orjson

from service.errors import ServiceError
from service.gateway.gate import Outcome, Upstream
from service.gateway.protocol.errors import METHOD_NOT_FOUND
from service.gateway.protocol.revisions import (
    HANDSHAKE_OF_UPSTREAMS,
    IMPLEMENTATION,
    STATELESS,
)
from service.gateway.upstream.answers import UpstreamAnswer, ignored
from service.gateway.upstream.connections import UpstreamConnections
from service.gateway.upstream.dialects import OFFERED, Dialect
from service.gateway.upstream.errors import (
    NO_ANSWER,
    NO_REVISION,
    OTHER_ID,
    SAY_NOT_MCP,
    Cause,
    NotConnectedError,
    UpstreamError,
    unusable,
)
from service.gateway.upstream.lost_sessions import code_of
from service.gateway.upstream.posts import Post
from service.gateway.upstream.requests import (
    UpstreamRequest,
    body_of,
    headers_of,
    message_of,
)
from service.gateway.upstream.standalone_streams import StandaloneStreams

SESSION_CHARACTERS_MAX: Final = 1024
# For an answer that says whether a session is still known.
CHECK_S: Final = 5.0


class Handshake:
    """Agrees with upstreams on how to speak; ``ids`` are those of requests.

    ``on_returned_credential`` is told each upstream that asks something with it.
    """

    def __init__(
        self,
        connections: UpstreamConnections,
        ids: Iterator[int],
        on_returned_credential: Callable[[Upstream], None],
    ) -> None:
        self._connections = connections
        self._ids = ids
        self.streams = StandaloneStreams(connections, self.send, on_returned_credential)

    async def find_dialect(
        self,
        upstream: Upstream,
        inputs: bytes,
        on_connected: Callable[[], None] | None,
    ) -> Dialect:
        """Ask ``server/discover``; a server that doesn't answer it wants a handshake.

        A server whose revision is set isn't asked. ``inputs`` are the capabilities to
        declare in a handshake, as JSON.

        :raises UpstreamError: not reachable, failing, too late, or no revision in
            common
        """
        try:
            # Also where every caller that waits for it has left.
            async with asyncio.timeout(self._connections.bounds.call_s):
                return await self._find_dialect(upstream, inputs, on_connected)
        except TimeoutError:
            raise UpstreamError(NO_ANSWER, Outcome.TIMEOUT) from None

    async def _find_dialect(
        self,
        upstream: Upstream,
        inputs: bytes,
        on_connected: Callable[[], None] | None,
    ) -> Dialect:
        if upstream.revision == STATELESS:
            return Dialect(STATELESS)
        if upstream.revision is not None:
            return await self._shake_hands(
                upstream, upstream.revision, inputs, on_connected
            )
        refused: UpstreamError | None = None
        try:
            if await self._is_stateless(upstream, on_connected):
                return Dialect(STATELESS)
        except NotConnectedError:
            raise
        except UpstreamError as error:
            if error.outcome is Outcome.TIMEOUT:
                raise
            # Some servers with a handshake fail at a method that they don't know.
            refused = error
        try:
            return await self._shake_hands(upstream, OFFERED, inputs)
        except UpstreamError as error:
            if refused is not None and error.cause is Cause.CONNECTION_CLOSED:
                raise refused from None
            raise

    async def _is_stateless(
        self, upstream: Upstream, on_connected: Callable[[], None] | None
    ) -> bool:
        request, number = (
            UpstreamRequest(method="server/discover", params={}),
            next(self._ids),
        )
        stateless = Dialect(STATELESS)
        headers = headers_of(stateless, request)
        body = body_of(stateless, request, number)
        async with Post(
            self._connections, upstream, headers, body, on_connected
        ) as answer:
            if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise await answer.refusal()
            if answer.status != HTTPStatus.OK:
                return False
            result = (await _answer(answer, number)).get("result")
        return isinstance(result, dict) and STATELESS in _texts(
            result.get("supportedVersions")
        )

    async def _shake_hands(
        self,
        upstream: Upstream,
        offered: str,
        inputs: bytes,
        on_connected: Callable[[], None] | None = None,
    ) -> Dialect:
        number = next(self._ids)
        params = {
            "protocolVersion": offered,
            "capabilities": orjson.Fragment(inputs),
            "clientInfo": IMPLEMENTATION,
        }
        body = message_of("initialize", params, number)
        async with Post(self._connections, upstream, {}, body, on_connected) as answer:
            if answer.status != HTTPStatus.OK:
                raise await answer.refusal("initialize")
            session_id = answer.session_id
            result = (await _answer(answer, number)).get("result")
        agreed = result.get("protocolVersion") if isinstance(result, dict) else None
        if agreed not in HANDSHAKE_OF_UPSTREAMS:
            raise unusable("no revision in common", NO_REVISION)
        if session_id is not None and len(session_id) > SESSION_CHARACTERS_MAX:
            raise unusable("a session id that is too long")
        dialect = Dialect(agreed, session_id)
        method = "notifications/initialized"
        await self.send(upstream, dialect, message_of(method, {}), method)
        if session_id is not None:
            await self.streams.open(upstream, dialect)
        return dialect

    async def is_refused(self, upstream: Upstream, dialect: Dialect) -> bool:
        """Say whether the server refuses even what every server answers.

        Of one that is set to be stateless, nobody knows whether it answers that.
        """
        if dialect.is_stateless and upstream.revision is not None:
            return False
        method = "server/discover" if dialect.is_stateless else "ping"
        request, number = UpstreamRequest(method=method, params={}), next(self._ids)
        headers = headers_of(dialect, request)
        body = body_of(dialect, request, number)
        try:
            async with (
                asyncio.timeout(CHECK_S),
                Post(self._connections, upstream, headers, body) as answer,
            ):
                if answer.status != HTTPStatus.OK:
                    return answer.status >= HTTPStatus.BAD_REQUEST
                message = await answer.last_message(ignored)
        except UpstreamError as error:
            return error.message in SAY_NOT_MCP
        except (ServiceError, TimeoutError):
            return False
        has_no_ping = code_of(message.get("error")) == METHOD_NOT_FOUND
        return "error" in message and (dialect.is_stateless or not has_no_ping)

    async def send(
        self, upstream: Upstream, dialect: Dialect, body: bytes, what: str
    ) -> None:
        """Send a message that has no answer; ``what`` it is.

        :raises UpstreamError: it can't be reached, or refuses
        """
        async with Post(self._connections, upstream, dialect.headers, body) as answer:
            if answer.status >= HTTPStatus.BAD_REQUEST:
                raise await answer.refusal(what)


async def _answer(answer: UpstreamAnswer, number: int) -> dict[str, Any]:
    message = await answer.last_message(ignored)
    if message.get("id") != number:
        raise unusable("the answer has another id", OTHER_ID)
    return message


def _texts(value: Any) -> list[str]:
    return (
        [each for each in value if isinstance(each, str)]
        if isinstance(value, list)
        else []
    )
