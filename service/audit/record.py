"""Authorize and record each read of history."""

from aiohttp import web

from service.audit.commands import ReadHistory, read_history
from service.audit.policy import may_read_history
from service.errors import UnauthenticatedError
from service.http.authentication import authenticate_again
from service.http.dispatch import execute_for
from service.http.operation import OPERATION

RECORDED_AT = web.RequestKey("recorded_at", int)


async def record_reading(request: web.Request) -> int:
    """Append that the caller reads history, and return at which position.

    Comes before anything is answered: what can't be recorded isn't read. A request is
    recorded once, even if another server has to answer it.

    :raises ForbiddenError: the caller is neither superuser nor auditor
    """
    if RECORDED_AT in request:
        return request[RECORDED_AT]
    operation = request[OPERATION].name
    asked = {**request.match_info, **request.query}
    _, appended = await execute_for(
        request, read_history, ReadHistory(operation=operation, asked=asked)
    )
    assert appended is not None, "a reading always appends"
    assert appended.position is not None, "a reading always has an event"
    request[RECORDED_AT] = appended.position
    return appended.position


async def may_still_read(request: web.Request) -> bool:
    """Whether the caller of a stream or export under way could begin it again.

    Not after the token was revoked or has expired, or the user was disabled or has
    lost the role.
    """
    try:
        principal = await authenticate_again(request)
    except UnauthenticatedError:
        return False
    return may_read_history(principal)
