"""Errors as HTTP responses: the one table of errors to statuses."""

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import psycopg
from aiohttp import web
from prometheus_client import Counter

from service import errors
from service.errors import Problem, ServiceError
from service.http.app_keys import LEFT_OUT
from service.http.envelope import Answer, respond
from service.http.operation import operation_of
from service.http.telemetry import REQUEST_ID
from service.http.validation_errors import PROBLEMS_MAX
from service.keys.canary import RetiredRootKeyError
from service.keys.cipher import OpenError
from service.keys.root_key import RootKeyUnavailableError, WrongRootKeyError
from service.keys.vault import ValueMissingError
from service.unavailable import unavailable

STATUS: Final[dict[type[ServiceError], int]] = {
    errors.MalformedRequestError: 400,
    errors.UnauthenticatedError: 401,
    errors.ForbiddenError: 403,
    errors.NotFoundError: 404,
    errors.ConflictError: 409,
    errors.PreconditionFailedError: 412,
    errors.TooLargeError: 413,
    errors.UnsupportedMediaTypeError: 415,
    errors.MisdirectedError: 421,
    errors.InvalidRequestError: 422,
    errors.TooManyRequestsError: 429,
    errors.UnavailableError: 503,
    ValueMissingError: 500,
}
HTTP_CODES: Final = {
    404: "no_such_path",
    405: "method_not_allowed",
    413: "too_large",
}
# As other servers record it; no client gets it.
CLIENT_LEFT: Final = 499
UNREADABLE = Counter(
    "agent_runtime_unreadable_values_total",
    "Sealed values that could not be opened: damaged, moved, without their root key, "
    "or deleted though nobody destroyed them.",
)

logger = logging.getLogger(__name__)


def answer_failure(request: web.Request, error: Exception) -> web.StreamResponse:
    """Return the response of an exception; an unexpected one reveals nothing.

    A redirection is raised again.
    """
    match error:
        case WrongRootKeyError() | OpenError() | ValueMissingError():
            return _unreadable(request, error)
        case ServiceError():
            return _refusal(request, error)
        case ConnectionError() if has_left(request):
            # Nobody reads this; the log and the metrics have its status.
            return _envelope(
                request, CLIENT_LEFT, "the client has disconnected", "client_left"
            )
        case psycopg.OperationalError():
            return _without_database(request, error)
        case web.HTTPException():
            return _http_error(request, error)
    logger.error("unexpected error", exc_info=error, extra=_named(request))
    return _envelope(request, 500, "internal error", "internal_error")


def has_left(request: web.Request) -> bool:
    """Say whether the client of a request has closed its connection."""
    return request.transport is None or request.transport.is_closing()


def status_of(error: ServiceError) -> int:
    for kind in type(error).__mro__:
        if kind in STATUS:
            return STATUS[kind]
    raise TypeError(f"{type(error)} has no status")


def _refusal(request: web.Request, error: ServiceError) -> web.Response:
    return _envelope(
        request,
        status_of(error),
        error.message,
        error.code,
        error.problems[:PROBLEMS_MAX],
        headers=error.headers,
    )


def _without_database(
    request: web.Request, error: psycopg.OperationalError
) -> web.Response:
    refusal = unavailable(error)
    logger.warning(refusal.message, exc_info=error, extra=_named(request))
    return _refusal(request, refusal)


def _unreadable(
    request: web.Request, error: WrongRootKeyError | OpenError | ValueMissingError
) -> web.Response:
    if isinstance(error, RetiredRootKeyError):
        # Nothing was to be opened.
        logger.error("%s", error, extra=_named(request))
    else:
        is_missing = isinstance(error, ValueMissingError)
        what = "is missing" if is_missing else "can't be opened"
        logger.error("a sealed value %s", what, exc_info=error)
        UNREADABLE.inc()
    if isinstance(error, WrongRootKeyError):
        return _refusal(request, RootKeyUnavailableError(str(error)))
    return _envelope(request, 500, "this value can't be opened", "unreadable_value")


def _http_error(request: web.Request, error: web.HTTPException) -> web.StreamResponse:
    if error.status < HTTPStatus.BAD_REQUEST:
        raise error
    code = HTTP_CODES.get(error.status, "http_error")
    message = error.reason.lower()
    if error.status == HTTPStatus.NOT_FOUND and (left_out := request.app[LEFT_OUT]):
        message += (
            f" in a service without {', '.join(left_out)}; GET /openapi.json lists "
            "its operations"
        )
    response = _envelope(request, error.status, message, code)
    if "Allow" in error.headers:
        response.headers["Allow"] = error.headers["Allow"]
    return response


def _named(request: web.Request) -> dict[str, str]:
    return {"request_id": request.get(REQUEST_ID, "")}


def _envelope(
    request: web.Request,
    status: int,
    message: str,
    code: str,
    problems: tuple[Problem, ...] = (),
    *,
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    response = respond(
        Answer(
            status=status,
            message=message,
            data={
                "code": code,
                "errors": [
                    {"path": problem.path, "message": problem.message}
                    for problem in problems
                ],
                "request_id": request.get(REQUEST_ID, ""),
            },
        )
    )
    response.headers.update(headers or {})
    operation = operation_of(request)
    if operation is not None and operation.refusal is not None:
        response = operation.refusal(request, response, message)
        # Some protocols keep none, and these are of all.
        response.headers.update(headers or {})
    return response
