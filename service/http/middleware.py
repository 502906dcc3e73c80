"""What surrounds every operation; the only middleware, for each costs every request."""

import time
from collections.abc import Awaitable, Callable

from aiohttp import web

from service.http.authentication import authenticate
from service.http.errors import answer_failure
from service.http.log_epoch import name_log_epoch, refuse_other_epoch
from service.http.operation import operation_of
from service.http.telemetry import add_edge_headers, name_request, record

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def edge(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Authenticate before anything is read, and answer every failure.

    What happens inside is logged and counted once. A path or method that doesn't
    exist says so to anybody.
    """
    started = time.perf_counter()
    name_request(request)
    status = 500
    try:
        try:
            operation = operation_of(request)
            if operation is not None:
                if not operation.public:
                    await authenticate(request, operation)
                refuse_other_epoch(request)
            response = await handler(request)
            name_log_epoch(request, response)
        except Exception as error:  # noqa: BLE001 # all of them are answered
            response = answer_failure(request, error)
        status = response.status
        if not response.prepared:
            add_edge_headers(request, response)
        return response
    finally:
        record(request, status, time.perf_counter() - started)
