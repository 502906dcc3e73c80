"""The one middleware that always runs: authentication, errors, metrics, log line."""

import logging
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus

from aiohttp import hdrs, web

from service.errors import ForbiddenError
from service.http.authentication import PRINCIPAL, authenticate
from service.http.errors import answer_failure
from service.http.log_epoch import name_log_epoch, refuse_other_epoch
from service.http.operation import operation_of
from service.http.read_server import read_with_fallback, refuse_writes
from service.http.refusals import REFUSALS
from service.http.requests import refuse_repeated_headers
from service.http.server import close_while_draining, leave_chunked_body
from service.http.telemetry import add_edge_headers, name_request, record

CHANGING = (hdrs.METH_POST, hdrs.METH_PUT, hdrs.METH_DELETE)

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def edge(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Authenticate before the body is read, and answer every exception.

    Each request is logged and counted once. An unknown path or method is answered
    without authentication.
    """
    started = time.perf_counter()
    name_request(request)
    operation = operation_of(request)
    status = 500
    level = logging.INFO
    try:
        try:
            refuse_repeated_headers(request)
            if operation is not None:
                refuse_writes(request)
                if not operation.public:
                    await authenticate(request, operation)
                refuse_other_epoch(request)
            response = await read_with_fallback(request, handler)
            name_log_epoch(request, response)
        except Exception as error:  # noqa: BLE001 # every exception becomes an answer
            if (
                isinstance(error, ForbiddenError)
                and request.method in CHANGING
                and PRINCIPAL in request
            ):
                await request.app[REFUSALS].record(request, error)
            response = answer_failure(request, error)
            if request.body_exists and not request.content.is_eof():
                # The rest of the body is not read.
                response.force_close()
        if request.body_exists:
            leave_chunked_body(request, response)
        status = response.status
        if operation is not None and operation.quiet and status == HTTPStatus.OK:
            level = logging.DEBUG
        if not response.prepared:
            add_edge_headers(request, response)
            # A direct response is sent without aiohttp's signals, of which this is one.
            await close_while_draining(request, response)
        return response
    finally:
        principal = request.get(PRINCIPAL)
        actor = principal.metadata["actor"] if principal else None
        duration_s = time.perf_counter() - started
        record(request, status, duration_s, actor=actor, level=level)
