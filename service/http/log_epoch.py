"""Which log a position belongs to: the header X-Log-Epoch."""

from uuid import UUID

from aiohttp import web
from aiohttp.typedefs import Handler

from service.errors import ConflictError, MalformedRequestError, Problem
from service.http.dispatch import EVENT_LOG, POSITION_HEADER
from service.http.operation import operation_of

EPOCH_HEADER = "X-Log-Epoch"


@web.middleware
async def name_log_epoch(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Name the epoch beside every position, and refuse positions of another one.

    A log that was restored uses positions again: those of an earlier answer then
    mean other events, or none.
    """
    log = request.config_dict[EVENT_LOG]
    asked = request.headers.get(EPOCH_HEADER)
    # A path or method that doesn't exist says so first.
    if asked is not None and operation_of(request) and _parsed(asked) != log.epoch:
        raise ConflictError(
            "the log has been restored; positions of earlier answers are void",
            code="log_epoch_changed",
            headers={EPOCH_HEADER: str(log.epoch)},
        )
    response = await handler(request)
    if POSITION_HEADER in response.headers and not response.prepared:
        response.headers[EPOCH_HEADER] = str(log.epoch)
    return response


def _parsed(header: str) -> UUID:
    try:
        return UUID(header)
    except ValueError:
        raise MalformedRequestError(
            f"{EPOCH_HEADER} takes the {EPOCH_HEADER} of an earlier answer",
            problems=[Problem(EPOCH_HEADER, "not an epoch")],
        ) from None
