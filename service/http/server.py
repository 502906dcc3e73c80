"""Connections: what arrives on them that is no request, and how they end."""

import asyncio
import logging
from typing import Final
from uuid import uuid4

from aiohttp import web
from aiohttp.http_exceptions import LineTooLong
from aiohttp.web_protocol import RequestHandler

from service.http.envelope import Answer, respond
from service.http.overload import Crowded, connections_max
from service.http.telemetry import REQUEST_ID, add_edge_headers

NOT_HTTP: Final = "this is not a valid HTTP request"
TOO_LONG: Final = "the request line or a header is too long"

logger = logging.getLogger("agent_runtime.request")


class Runner(web.AppRunner):
    """Runs an application; refuses what can't be parsed without quoting it.

    Connections beyond a bound, which leaves room for all else that needs a file,
    are refused.
    """

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        # aiohttp has no place to name the class of its connections.
        server.__class__ = _Server
        return server


class Draining:
    """Set once the process has been told to stop."""

    started = False


DRAINING = web.AppKey("draining", Draining)


async def close_while_draining(
    request: web.Request, response: web.StreamResponse
) -> None:
    """Tell a client to send its next request to somebody else."""
    if request.app[DRAINING].started:
        response.headers["Connection"] = "close"
        response.force_close()


class _Server(web.Server):
    connections_max = connections_max()

    # The library says that a server makes one kind of connection.
    def __call__(self) -> asyncio.Protocol:  # type: ignore[override]
        if len(self._connections) >= self.connections_max:
            return Crowded()
        return _Connection(self, loop=self._loop, **self._kwargs)


class _Connection(RequestHandler):
    """A connection; aiohttp's own refusals quote the request and name its version."""

    __slots__ = ()

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        if status >= web.HTTPInternalServerError.status_code:
            return super().handle_error(request, status, exc, message)
        request[REQUEST_ID] = request_id = uuid4().hex
        logger.info(
            "refused what is no request",
            extra={"request_id": request_id, "status": status},
        )
        response = respond(
            Answer(
                status=status,
                message=TOO_LONG if isinstance(exc, LineTooLong) else NOT_HTTP,
                data={"code": "http_error", "errors": [], "request_id": request_id},
            )
        )
        add_edge_headers(request, response)
        response.force_close()
        return response
