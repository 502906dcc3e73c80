"""Errors of the service as errors of JSON-RPC, and requests refused before parsing."""

from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from aiohttp import web

from service.errors import ServiceError
from service.gateway.protocol.errors import INTERNAL_ERROR, RpcError
from service.gateway.protocol.messages import RequestId, error_of
from service.gateway.protocol.revisions import EVENT_STREAM, JSON
from service.http.errors import status_of as status_of_error

# Set once the message has been parsed.
RPC_ID: web.RequestKey[RequestId | None] = web.RequestKey("rpc_id")
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def rpc_refusal(
    request: web.Request, envelope: web.Response, message: str
) -> web.Response:
    """Convert an error's envelope to an error of JSON-RPC, with its status as code."""
    return _response(request, envelope.status, message)


def rpc_error_of(error: ServiceError) -> RpcError:
    """Return an error for a stream, whose status was sent before."""
    return _with_status(status_of_error(error), error.message)


def refuse_request(request: web.Request) -> web.Response | None:
    """Refuse foreign pages, and clients that don't take both kinds of answers."""
    origin = request.headers.get("Origin")
    if origin is not None and not _is_local(origin, request.host):
        return _response(request, 403, "requests of web pages are not accepted")
    accepted = ",".join(request.headers.getall("Accept", ["*/*"])).lower()
    if "*/*" not in accepted and not (JSON in accepted and EVENT_STREAM in accepted):
        return _response(request, 406, f"Accept must list {JSON} and {EVENT_STREAM}")
    return None


def _is_local(origin: str, host: str) -> bool:
    """Say whether a page is of this machine and of this very server.

    Another name of this server's address could be anybody's (DNS rebinding).
    """
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.netloc == host and parts.hostname in LOOPBACK


def _with_status(status: int, message: str) -> RpcError:
    is_ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    # Codes of our own are outside of those that JSON-RPC reserves.
    return RpcError(INTERNAL_ERROR if is_ours else status, message)


def _response(request: web.Request, status: int, message: str) -> web.Response:
    return web.Response(
        body=error_of(request.get(RPC_ID), _with_status(status, message)),
        status=status,
        content_type=JSON,
    )
