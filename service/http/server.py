"""The HTTP server: limits connections, and answers malformed requests."""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from typing import Any, Final
from uuid import uuid4

from aiohttp import hdrs, web
from aiohttp.http_exceptions import BadHttpMethod, LineTooLong
from aiohttp.http_parser import RawRequestMessage
from aiohttp.streams import EMPTY_PAYLOAD, StreamReader
from aiohttp.web_protocol import RequestHandler

from service.errors import MalformedRequestError, TooLargeError
from service.http.envelope import Answer, respond
from service.http.overload import ConnectionLimit, OverloadProtocol
from service.http.reset import reset
from service.http.telemetry import REQUEST_ID, add_edge_headers
from service.pacing import next_turn

NOT_HTTP: Final = "this is not a valid HTTP request"
UNKNOWN_METHOD: Final = "this method is unknown"
BROKEN_BODY: Final = "the body is not valid chunked coding"
TOO_LONG: Final = "the request line or a header is too long"
TOO_MANY_CHUNKS: Final = "the body has too many small chunks: send larger ones"

# A connection stops reading when it has twice this much of a body, or a sixteenth as
# many chunks: parsing those, and taking them over, is one hold of the event loop.
READ_BYTES: Final = 32 * 1024
# What a body may have beyond its content, such as sizes of chunks, of at least 5 bytes
# each. A body that is sent as it comes has some hundred.
CHUNKING_BYTES_MAX: Final = 1024 * 1024
LAST_CHUNK: Final = b"0\r\n\r\n"

# Settings of a runner that its connections don't take.
_NOT_OF_CONNECTIONS: Final = frozenset(
    {"handle_signals", "handler_cancellation", "shutdown_timeout"}
)

# As the parser quotes it: a request but for its method, rather than no HTTP at all.
_REQUEST_LINE: Final = re.compile(
    r".*b['\"][A-Za-z0-9!#$%&*+.^_`|~-]+ \S+ HTTP/1\.", re.DOTALL
)

logger = logging.getLogger("agent_runtime.request")


class Runner(web.AppRunner):
    """Runs an application within a limit of connections.

    ``settings`` are those of ``web.AppRunner``. A request that can't be parsed is
    refused without being quoted. Bodies arrive as they were sent: inflating one is the
    work of the operation that takes it, after authentication.
    """

    def __init__(
        self, app: web.Application, *, limit: ConnectionLimit, **settings: Any
    ) -> None:
        settings["auto_decompress"] = False
        settings["read_bufsize"] = READ_BYTES
        super().__init__(app, **settings)
        self.limit = limit
        self._connection_settings = {
            name: value
            for name, value in settings.items()
            if name not in _NOT_OF_CONNECTIONS
        }

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        return _Server(
            server.request_handler,
            request_factory=server.request_factory,
            handler_cancellation=server.handler_cancellation,
            limit=self.limit,
            connection_settings=self._connection_settings,
        )


class Draining:
    """``started`` is true once the process has been told to stop."""

    started = False


DRAINING = web.AppKey("draining", Draining)


async def close_while_draining(
    request: web.Request, response: web.StreamResponse
) -> None:
    """Close the connection after this response once the process is stopping."""
    if request.app[DRAINING].started:
        response.headers["Connection"] = "close"
        response.force_close()


def leave_chunked_body(request: web.Request, response: web.StreamResponse) -> None:
    """Close the connection, and parse nothing more, if the body isn't read to its end.

    Parsing the rest could cost more than the request itself.
    """
    body = request.content
    if body.exception() is not None or (
        not body.is_eof() and hdrs.TRANSFER_ENCODING in request.headers
    ):
        response.force_close()
        if isinstance(request.protocol, ClientConnection):
            request.protocol.discard_body(body)


class _Server(web.Server):
    def __init__(
        self,
        handler: Any,
        *,
        limit: ConnectionLimit,
        connection_settings: Mapping[str, Any],
        **settings: Any,
    ) -> None:
        super().__init__(handler, **settings)
        self._limit = limit
        self._connection_settings = connection_settings

    # aiohttp's type allows no protocol but its own.
    def __call__(self) -> asyncio.Protocol:  # type: ignore[override]
        if len(self.connections) >= self._limit.connections_max:
            return OverloadProtocol(self._limit)
        loop = asyncio.get_running_loop()
        return ClientConnection(self, loop=loop, **self._connection_settings)


class ClientConnection(RequestHandler):
    """Refuses malformed requests; aiohttp would quote them and name its version.

    ``on_lost`` is called when the client disconnects. ``cancelled`` is the request
    whose work was cancelled as if it had.
    """

    __slots__ = (
        "_discards",
        "_newest_body",
        "_received",
        "_resumes",
        "cancelled",
        "on_lost",
    )

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.on_lost: Callable[[], None] | None = None
        self.cancelled: web.BaseRequest | None = None
        self._newest_body: StreamReader = EMPTY_PAYLOAD
        # Bytes since the newest body began, while it hasn't ended.
        self._received = 0
        self._discards = False
        self._resumes = False

    def connection_lost(self, exc: BaseException | None) -> None:
        super().connection_lost(exc)
        if self.on_lost is not None:
            self.on_lost()

    # aiohttp's signature.
    async def shutdown(self, timeout: float | None = None) -> None:  # noqa: ASYNC109
        """Wait for the request under way, and cut it off when the timeout ends.

        aiohttp would wait for as long again: for a client that reads slowly.
        """
        if timeout is None:
            await super().shutdown(timeout)
            return
        cut = self._loop.call_later(timeout, self._cut_off)
        try:
            await super().shutdown(timeout)
        finally:
            cut.cancel()

    def _cut_off(self) -> None:
        if self._task_handler is not None:
            self._task_handler.cancel()
        if self.transport is not None:
            reset(self.transport)

    def data_received(self, data: bytes) -> None:
        if self._discards:
            if data.endswith(LAST_CHUNK) and not self._newest_body.is_eof():
                self._newest_body.feed_eof()
            return
        super().data_received(data)
        if self._messages:
            message, body = self._messages[-1]
            if not isinstance(message, RawRequestMessage):
                # An error that the parser has found.
                self._end_broken_body()
                return
            if body is not self._newest_body:
                self._newest_body = body
                self._received = 0
        body = self._newest_body
        if not body.is_eof():
            self._received += len(data)
            if self._received - body.total_bytes > CHUNKING_BYTES_MAX:
                self._discards = True
                body.set_exception(TooLargeError(TOO_MANY_CHUNKS))

    # aiohttp's signature.
    def resume_reading(self, resume_parser: bool = True) -> None:  # noqa: FBT001, FBT002
        """Go on after a pause, in a turn of its own.

        aiohttp would parse the next part while the last one is taken over, and those
        of all connections one after the other.
        """
        if not resume_parser or self._upgraded:
            super().resume_reading(resume_parser)
        elif self._reading_paused and not self._resumes:
            self._resumes = True
            next_turn().add_done_callback(self._go_on_reading)

    def _go_on_reading(self, _turn: object) -> None:
        self._resumes = False
        if self._reading_paused and self.connected:
            super().resume_reading()

    def discard_body(self, body: StreamReader) -> None:
        """Parse nothing more: its last request is answered, before its body's end.

        The client can still send the rest, and read the answer, until the connection is
        closed: at what looks like the end of the body, or when it has lingered.
        """
        self._discards = True
        # aiohttp takes an exception here for one of its own.
        body.set_exception(None)  # type: ignore[arg-type]

    def _end_broken_body(self) -> None:
        """Fail who reads the body in which an error was found.

        aiohttp's parser forgets that body, so that they would wait for the rest.
        """
        # The request of it may not have begun yet, or may have been taken off the list.
        waiting = len(self._messages) > 1
        body = self._messages[-2][1] if waiting else self._newest_body
        if not body.is_eof():
            body.set_exception(MalformedRequestError(BROKEN_BODY))
            body.feed_eof()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if status >= web.HTTPInternalServerError.status_code:
            return super().handle_error(request, status, exc, message)
        message = TOO_LONG if isinstance(exc, LineTooLong) else NOT_HTTP
        code = "http_error"
        if isinstance(exc, BadHttpMethod) and _REQUEST_LINE.match(exc.message):
            status, message, code = 501, UNKNOWN_METHOD, "unknown_method"
        request[REQUEST_ID] = request_id = uuid4().hex
        logger.info(
            "refused a malformed request",
            extra={"request_id": request_id, "status": status},
        )
        response = respond(
            Answer(
                status=status,
                message=message,
                data={"code": code, "errors": [], "request_id": request_id},
            )
        )
        add_edge_headers(request, response)
        response.force_close()
        return response
