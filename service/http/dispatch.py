"""Run a route's command, and answer with its result."""

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from aiohttp import web

from service.errors import (
    MalformedRequestError,
    Problem,
    ServiceError,
    UnavailableError,
)
from service.event_log.append import AlreadyAnsweredError, Appended, Receipt
from service.event_log.execute import execute
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.http.app_keys import EVENT_LOG
from service.http.authentication import PRINCIPAL, authenticate_again
from service.http.envelope import Answer
from service.http.idempotency import SeededToken, idempotent_request
from service.http.log_epoch import POSITION_HEADER
from service.http.own_writes import remember_write
from service.http.requests import if_match
from service.http.telemetry import REQUEST_ID, TRACEPARENT, count_of
from service.spans import current_traceparent

Command = TypeVar("Command")
Result = TypeVar("Result")
T = TypeVar("T")
Handler = Callable[[Command, UnitOfWork], Awaitable[Result]]


async def dispatch(
    request: web.Request,
    handler: Handler[Command, Result],
    command: Command,
    present: Callable[[Result], Answer[T]],
    token: SeededToken | None = None,
) -> Answer[T]:
    """Run a command as its caller, once for each Idempotency-Key.

    ``token`` is in the answer, and is not kept.

    :raises ServiceError: the handler's refusal, or one of this function
    """
    log = request.app[EVENT_LOG]
    given_match = if_match(request)
    idempotent = await idempotent_request(request)

    def receipt(result: Result) -> Receipt:
        assert idempotent is not None
        return idempotent.receipt(present(result), token)

    try:
        result, appended = await execute_for(
            request,
            handler,
            command,
            if_match=given_match,
            receipt=receipt if idempotent else None,
        )
    except AlreadyAnsweredError as error:
        assert idempotent is not None
        return idempotent.replay(error.receipt, token)
    except UnavailableError:
        raise
    except ServiceError:
        # Perhaps it is refused because it has been done: then that answer counts.
        kept = await log.receipt(idempotent.key) if idempotent else None
        if idempotent is None or kept is None:
            raise
        return idempotent.replay(kept, token)
    count_of("appended" if appended else "nothing to do").inc()
    answer = present(result)
    if appended and appended.position is not None:
        remember_write(request, appended.position)
        position = str(appended.position)
        answer.headers = {**answer.headers, POSITION_HEADER: position}
    return answer


async def execute_for(
    request: web.Request,
    handler: Handler[Command, Result],
    command: Command,
    *,
    if_match: int | None = None,
    receipt: Callable[[Result], Receipt] | None = None,
    log: CommandLog | None = None,
) -> tuple[Result, Appended | None]:
    """Run a command as the request's caller, who is authenticated for each retry.

    ``log`` replaces the application's.

    :returns: the handler's result, and None when nothing was appended
    :raises ServiceError: the handler's refusal
    :raises AlreadyAnsweredError: when the receipt's key has been used
    """
    if_match_given = "If-Match" in request.headers

    async def decide(work: UnitOfWork) -> Result:
        result = await handler(command, work)
        if if_match_given and not work.if_match_used:
            raise MalformedRequestError(
                "this operation takes no If-Match",
                problems=[Problem("If-Match", "not supported here")],
            )
        return result

    return await execute(
        log or request.app[EVENT_LOG],
        decide,
        metadata=request_metadata(request),
        at=datetime.now(UTC),
        principal=request[PRINCIPAL],
        authenticate=partial(authenticate_again, request),
        if_match=if_match,
        receipt=receipt,
    )


def request_metadata(request: web.Request) -> dict[str, str]:
    """Return what the log keeps beside an event: who caused it, in which request.

    Not the caller's address, which could never be erased; it is in the log line of the
    request.
    """
    principal = request[PRINCIPAL]
    metadata = {**principal.metadata, "request_id": request[REQUEST_ID]}
    # A span is in the client's trace, if that sent one.
    traceparent = current_traceparent() or request.get(TRACEPARENT)
    if traceparent is not None:
        metadata["traceparent"] = traceparent
    return metadata
