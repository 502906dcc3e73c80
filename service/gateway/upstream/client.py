"""An MCP client of connectors, of stateless servers and of those with a handshake."""

import asyncio
import itertools
import logging
from collections.abc import AsyncIterator, Coroutine, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any, Final

import aiohttp
import orjson

from service.gateway.gate import Caller, Outcome, Upstream
from service.gateway.protocol.headers import encoded
from service.gateway.protocol.revisions import (
    ACCEPT,
    CAPABILITIES_KEY,
    CLIENT_KEY,
    HANDSHAKE_OF_UPSTREAMS,
    IMPLEMENTATION,
    JSON,
    LOG_LEVEL_KEY,
    METHOD_HEADER,
    NAME_HEADER,
    REVISION_KEY,
    SESSION_HEADER,
    STATELESS,
)
from service.gateway.upstream.answers import Answer
from service.gateway.upstream.connections import (
    Connections,
    refused_address,
    was_connected,
)
from service.gateway.upstream.dialects import OFFERED, Dialect, Dialects
from service.gateway.upstream.errors import (
    ENDED,
    NO_ANSWER,
    REFUSED,
    SESSION_ENDED,
    NotConnectedError,
    UpstreamError,
    unusable,
)

SESSION_CHARACTERS_MAX: Final = 1024
CANCEL_S: Final = 5.0
END_S: Final = 0.5

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A request for an upstream: the stateless revision's fields are added to it.

    ``meta`` is for both; ``capabilities`` and ``mirrored``, headers that repeat
    arguments, for stateless upstreams. The progress token is the exchange's id.
    """

    method: str
    params: Mapping[str, Any] = field(repr=False)
    name: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    mirrored: Mapping[str, str] = field(default_factory=dict, repr=False)
    wants_progress: bool = False


@dataclass(slots=True)
class Exchange:
    """A request that was sent; ``id`` is also its progress token."""

    id: int
    answer: Answer
    request_bytes: int

    async def messages(self) -> AsyncIterator[dict[str, Any]]:
        """Yield notifications, and at the end the answer.

        :raises UpstreamError: no answer
        """
        try:
            async for message in self.answer.messages():
                if "method" not in message:
                    if message.get("id") != self.id:
                        raise unusable("the answer has another id")
                    yield message
                    return
                yield message
        except TimeoutError:
            raise UpstreamError(NO_ANSWER, Outcome.TIMEOUT) from None
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise unusable(type(error).__name__, ENDED) from None


class UpstreamClient:
    """Sends requests to upstreams, each once."""

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        self._ids = itertools.count(1)
        self._dialects = Dialects(self._find_dialect)
        self._tasks: set[asyncio.Task[None]] = set()

    async def prepare(self, upstream: Upstream, caller: Caller | None) -> Dialect:
        """Return how to speak with an upstream.

        :raises UpstreamError: it can't be asked, or speaks nothing that we do
        """
        return await self._dialects.of(upstream, caller)

    @asynccontextmanager
    async def send(
        self,
        upstream: Upstream,
        caller: Caller | None,
        dialect: Dialect,
        request: Request,
    ) -> AsyncIterator[Exchange]:
        """Send a request; its connection is closed unless its answer was read.

        :raises UpstreamError: it wasn't answered, or not by MCP
        :raises ServiceError: the credential can't be revealed
        """
        number = next(self._ids)
        body = _body(dialect, request, number)
        headers = {**dialect.headers, **_headers(dialect, request)}
        try:
            async with self._post(upstream, headers, body) as answer:
                self._check_status(upstream, caller, dialect, answer)
                yield Exchange(number, answer, len(body))
        except (asyncio.CancelledError, GeneratorExit):
            if not dialect.is_stateless:
                self._cancel(upstream, dialect, number)
            raise

    def _check_status(
        self,
        upstream: Upstream,
        caller: Caller | None,
        dialect: Dialect,
        answer: Answer,
    ) -> None:
        status = answer.status
        if status == HTTPStatus.OK:
            return
        if status == HTTPStatus.NOT_FOUND and dialect.session_id is not None:
            self._dialects.forget(upstream, caller)
            raise unusable("status 404", SESSION_ENDED)
        if status >= HTTPStatus.BAD_REQUEST and answer.response.content_type == JSON:
            # Stateless servers answer errors of JSON-RPC so. Another server may be
            # there by now.
            if not dialect.is_stateless or status != HTTPStatus.BAD_REQUEST:
                self._dialects.forget(upstream, caller)
            return
        self._dialects.forget(upstream, caller)
        raise unusable(f"status {status}", REFUSED)

    @asynccontextmanager
    async def _post(
        self, upstream: Upstream, headers: dict[str, str], body: bytes
    ) -> AsyncIterator[Answer]:
        response = await self._respond(upstream, headers, body)
        try:
            yield Answer(response)
        except BaseException:
            response.close()
            raise
        if response.content.at_eof():
            response.release()
        else:
            self._start(_drain(response), "MCP end of stream")

    async def _respond(
        self, upstream: Upstream, headers: dict[str, str], body: bytes
    ) -> aiohttp.ClientResponse:
        sent = {"Content-Type": JSON, "Accept": ACCEPT}
        credential = upstream.credential
        if credential is not None:
            value = await credential.reveal()
            sent[credential.header] = value.get_secret_value()
        sent |= headers
        try:
            return await self._connections.send("POST", upstream.url, sent, body)
        except (aiohttp.ClientError, OSError, TimeoutError, ValueError) as error:
            refused = refused_address(error)
            detail = str(refused) if refused else type(error).__name__
            if not was_connected(error):
                raise NotConnectedError(detail) from None
            if isinstance(error, TimeoutError):
                raise UpstreamError(NO_ANSWER, Outcome.TIMEOUT, detail) from None
            raise unusable(detail, ENDED) from None

    async def _find_dialect(self, upstream: Upstream) -> Dialect:
        """Ask ``server/discover``; a server that doesn't know it wants a handshake.

        :raises UpstreamError: not reachable, failing, or no revision in common
        """
        stateless = Dialect(STATELESS)
        message = await self._ask(
            upstream, stateless, Request(method="server/discover", params={})
        )
        result = message.get("result") if message else None
        if isinstance(result, dict) and STATELESS in _texts(
            result.get("supportedVersions")
        ):
            return stateless
        return await self._shake_hands(upstream)

    async def _ask(
        self, upstream: Upstream, dialect: Dialect, request: Request
    ) -> dict[str, Any] | None:
        """Return the answer; None if the server doesn't know the request."""
        number = next(self._ids)
        headers = {**dialect.headers, **_headers(dialect, request)}
        async with self._post(
            upstream, headers, _body(dialect, request, number)
        ) as answer:
            if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                raise unusable(f"status {answer.status}", REFUSED)
            if answer.status != HTTPStatus.OK:
                return None
            exchange = Exchange(number, answer, 0)
            async for message in exchange.messages():
                if "method" not in message:
                    return message
        return None

    async def _shake_hands(self, upstream: Upstream) -> Dialect:
        number = next(self._ids)
        params = {
            "protocolVersion": OFFERED,
            "capabilities": {},
            "clientInfo": IMPLEMENTATION,
        }
        body = orjson.dumps(_message("initialize", params, number))
        async with self._post(upstream, {}, body) as answer:
            if answer.status != HTTPStatus.OK:
                raise unusable(f"status {answer.status} to initialize", REFUSED)
            session_id = answer.response.headers.get(SESSION_HEADER)
            agreed = None
            async for message in Exchange(number, answer, 0).messages():
                if isinstance(message.get("result"), dict):
                    agreed = message["result"].get("protocolVersion")
        if agreed not in HANDSHAKE_OF_UPSTREAMS:
            raise unusable("no revision in common")
        if session_id is not None and len(session_id) > SESSION_CHARACTERS_MAX:
            raise unusable("a session id that is too long")
        dialect = Dialect(agreed, session_id)
        await self._notify(upstream, dialect, "notifications/initialized", {})
        return dialect

    async def _notify(
        self, upstream: Upstream, dialect: Dialect, method: str, params: dict[str, Any]
    ) -> None:
        body = orjson.dumps(_message(method, params))
        async with self._post(upstream, dialect.headers, body) as answer:
            if answer.status >= HTTPStatus.BAD_REQUEST:
                raise unusable(f"status {answer.status} to {method}", REFUSED)

    def _cancel(self, upstream: Upstream, dialect: Dialect, number: int) -> None:
        """Tell a server with handshake, where a closed connection doesn't say so."""

        async def tell() -> None:
            params = {"requestId": number}
            try:
                async with asyncio.timeout(CANCEL_S):
                    await self._notify(
                        upstream, dialect, "notifications/cancelled", params
                    )
            except Exception as error:  # noqa: BLE001 # best effort
                logger.debug("no cancellation was sent: %s", type(error).__name__)

        self._start(tell(), "MCP cancellation")

    def _start(self, work: Coroutine[Any, Any, None], name: str) -> None:
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


async def _drain(response: aiohttp.ClientResponse) -> None:
    """Keep the connection of a stream that ends right behind its answer."""
    try:
        async with asyncio.timeout(END_S):
            while not response.content.at_eof():
                await response.content.readany()
        response.release()
    except (aiohttp.ClientError, OSError, TimeoutError):
        response.close()


def _body(dialect: Dialect, request: Request, number: int) -> bytes:
    meta = dict(request.meta)
    if request.wants_progress:
        meta["progressToken"] = number
    if not dialect.is_stateless:
        meta.pop(LOG_LEVEL_KEY, None)
    else:
        meta[REVISION_KEY] = STATELESS
        meta[CLIENT_KEY] = IMPLEMENTATION
        meta[CAPABILITIES_KEY] = request.capabilities
    params = {**request.params, "_meta": meta} if meta else request.params
    return orjson.dumps(_message(request.method, params, number))


def _headers(dialect: Dialect, request: Request) -> dict[str, str]:
    if not dialect.is_stateless:
        return {}
    headers = {METHOD_HEADER: request.method, **request.mirrored}
    if request.name is not None:
        headers[NAME_HEADER] = encoded(request.name)
    return headers


def _message(
    method: str, params: Mapping[str, Any], number: int | None = None
) -> dict[str, Any]:
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return message if number is None else {**message, "id": number}


def _texts(value: Any) -> list[str]:
    return (
        [each for each in value if isinstance(each, str)]
        if isinstance(value, list)
        else []
    )
