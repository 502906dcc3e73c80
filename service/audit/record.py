"""Authorize and record each read of history."""

from aiohttp import web

from service.audit.commands import ReadHistory, read_history
from service.http.dispatch import execute_for
from service.http.operation import OPERATION


async def record_reading(request: web.Request) -> int:
    """Append that the caller reads history, and return at which position.

    Comes before anything is answered: what can't be recorded isn't read.

    :raises ForbiddenError: the caller is neither superuser nor auditor
    """
    operation = request[OPERATION].name
    asked = {**request.match_info, **request.query}
    _, appended = await execute_for(
        request, read_history, ReadHistory(operation=operation, asked=asked)
    )
    assert appended is not None, "a reading always appends"
    assert appended.position is not None, "a reading always has an event"
    return appended.position
