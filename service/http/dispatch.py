"""From a route to a command handler, and back with the answer it gave."""

import hashlib
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Generic, TypeVar

import orjson
from aiohttp import web

from service.errors import (
    InvalidRequestError,
    MalformedRequestError,
    Problem,
    ServiceError,
    UnavailableError,
)
from service.event_log.append import AlreadyAnsweredError, Appended, Receipt
from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.http.app_keys import EVENT_LOG, KEY_RING
from service.http.authentication import AUTHENTICATOR, PRINCIPAL
from service.http.envelope import Answer, render, respond
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import OPERATION
from service.http.requests import if_match
from service.http.telemetry import REQUEST_ID, TRACEPARENT, count_of
from service.principal import Principal

IDEMPOTENCY_KEY_CHARACTERS_MAX = 255

Result = TypeVar("Result")
Handler = Callable[[UnitOfWork, Principal], Awaitable[Result]]


async def dispatch(
    request: web.Request, handler: Handler[Result], present: Callable[[Result], Answer]
) -> web.Response:
    """Run a command as its caller, once for each Idempotency-Key.

    Only successes are kept for a key: a refusal changed nothing, so it is decided
    anew.

    :raises ServiceError: the handler's refusal, or one of this function
    """
    log = request.app[EVENT_LOG]
    given_match = if_match(request)
    key = _receipt_key(request)
    asked = await _fingerprint(request) if key else b""
    attempt = _Attempt(request, handler)

    def receipt(result: Result) -> Receipt:
        assert key is not None
        return Receipt(key=key, request=asked, answer=_pack(present(result)))

    try:
        result, appended = await execute(
            log,
            attempt.decide,
            metadata=request_metadata(request),
            at=datetime.now(UTC),
            if_match=given_match,
            receipt=receipt if key else None,
        )
    except AlreadyAnsweredError as error:
        return _replay(error.receipt, asked)
    except UnavailableError:
        raise
    except ServiceError:
        # Perhaps it is refused because it has been done: then that answer counts.
        kept = await log.receipt(key) if key else None
        if kept is None:
            raise
        return _replay(kept, asked)
    count_of("appended" if appended else "nothing to do").inc()
    response = respond(present(result))
    if appended and appended.position is not None:
        response.headers[POSITION_HEADER] = str(appended.position)
    return response


async def execute_as_caller(
    request: web.Request, handler: Handler[Result]
) -> tuple[Result, Appended | None]:
    """Run a command that isn't itself what is answered, as the request's caller.

    :raises ServiceError: the handler's refusal
    """
    return await execute(
        request.config_dict[EVENT_LOG],
        _Attempt(request, handler).decide,
        metadata=request_metadata(request),
        at=datetime.now(UTC),
    )


class _Attempt(Generic[Result]):
    """Runs the handler; from the second time on as a freshly read principal."""

    def __init__(self, request: web.Request, handler: Handler[Result]) -> None:
        self._request = request
        self._handler = handler
        self._if_match_given = "If-Match" in request.headers
        self._first = True

    async def decide(self, work: UnitOfWork) -> Result:
        principal = self._request[PRINCIPAL]
        if not self._first:
            principal = await self._request.app[AUTHENTICATOR].authenticate(
                self._request.headers.get("Authorization")
            )
        self._first = False
        work.relied_on(principal.facts)
        result = await self._handler(work, principal)
        if self._if_match_given and not work.if_match_used:
            raise MalformedRequestError(
                "this operation takes no If-Match",
                problems=[Problem("If-Match", "not supported here")],
            )
        return result


def request_metadata(request: web.Request) -> dict[str, str]:
    """Return what the log keeps beside an event: who caused it, in which request."""
    principal = request[PRINCIPAL]
    metadata = {
        **principal.metadata,
        "request_id": request[REQUEST_ID],
        "address": request.remote or "",
    }
    if TRACEPARENT in request:
        metadata["traceparent"] = request[TRACEPARENT]
    return metadata


def _receipt_key(request: web.Request) -> bytes | None:
    key = request.headers.get("Idempotency-Key")
    if key is None:
        return None
    if not request[OPERATION].idempotent_key:
        raise MalformedRequestError(
            "this operation takes no Idempotency-Key, for its answer is never stored",
            problems=[Problem("Idempotency-Key", "not supported here")],
        )
    if not key or len(key) > IDEMPOTENCY_KEY_CHARACTERS_MAX or not key.isprintable():
        raise MalformedRequestError(
            "an Idempotency-Key has 1 to 255 printable characters",
            problems=[Problem("Idempotency-Key", "not valid")],
        )
    scope = [str(request[PRINCIPAL].user_id), request.method, request.path, key]
    return hashlib.sha256(orjson.dumps(scope)).digest()


async def _fingerprint(request: web.Request) -> bytes:
    """Keyed, because a body can hold a secret that is easy to guess."""
    body = await request.read()
    parts = (request.raw_path.encode(), request.headers.get("If-Match", "").encode())
    return request.app[KEY_RING].request_fingerprint(*parts, body)


def _pack(answer: Answer) -> bytes:
    headers = dict(answer.headers)
    if answer.etag is not None:
        headers["ETag"] = f'"{answer.etag}"'
    return orjson.dumps(
        {
            "status": answer.status,
            "headers": headers,
            "body": render(answer).decode(),
        }
    )


def _replay(receipt: Receipt, asked: bytes) -> web.Response:
    if receipt.request != asked:
        raise InvalidRequestError(
            "this Idempotency-Key was used for another request",
            code="idempotency_key_reused",
        )
    kept = orjson.loads(receipt.answer)
    response = respond(
        Answer(message="", status=kept["status"], headers=kept["headers"]),
        kept["body"].encode(),
    )
    response.headers["Idempotent-Replayed"] = "true"
    if receipt.position is not None:
        response.headers[POSITION_HEADER] = str(receipt.position)
    count_of("replayed").inc()
    return response
