"""Turn failures into errors, and decide whether another attempt may help."""

import ssl
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import httpx

from agent_runtime_client.encoding import parse_json
from agent_runtime_client.errors import (
    BY_CODE,
    BY_STATUS,
    AgentRuntimeError,
    ConnectionFailedError,
    OutcomeUnknownError,
    Problem,
    RateLimitedError,
    UnreadableAnswerError,
    WrongServerError,
)
from agent_runtime_client.operation import Call

# Nothing was sent.
NOT_CONNECTED: Final = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
# Another attempt would be the same.
UNSENDABLE: Final = (httpx.LocalProtocolError, httpx.UnsupportedProtocol)
# What a proxy answers if it can't reach the service, or has lost it.
GATEWAY: Final = (502, 503, 504)
TOO_LARGE: Final = 413
TOO_MANY_REQUESTS: Final = 429


class Failure(NamedTuple):
    """An error, and whether the same request may be sent again."""

    error: AgentRuntimeError
    is_retryable: bool


def no_answer(call: Call, cause: httpx.RequestError) -> Failure:
    """Return the failure of an attempt that no answer came to.

    Keeps nothing of the cause but its text: it holds the request with its token.
    """
    if (reason := _untrusted_certificate(cause)) is not None:
        untrusted = WrongServerError(
            f"no answer to {call.what}: the server's certificate isn't trusted "
            f"({reason}); if it is private, let SSL_CERT_FILE name that of its CA",
            code="untrusted_certificate",
            idempotency_key=call.idempotency_key,
        )
        return Failure(untrusted, is_retryable=False)
    not_connected = isinstance(cause, NOT_CONNECTED)
    unsendable = isinstance(cause, UNSENDABLE)
    text = type(cause).__name__
    # A LocalProtocolError quotes the header that is wrong, which may be a secret.
    if str(cause) and not isinstance(cause, httpx.LocalProtocolError):
        text = f"{text}: {cause}"
    # With HTTP/2, a LocalProtocolError may come after the request was sent.
    not_sent = not_connected or isinstance(cause, httpx.UnsupportedProtocol)
    may_be_done = call.operation.is_command and not not_sent
    error_type = OutcomeUnknownError if may_be_done else ConnectionFailedError
    error = error_type(
        f"no answer to {call.what} ({text})",
        code="outcome_unknown" if may_be_done else "connection_failed",
        idempotency_key=call.idempotency_key,
    )
    can_help = isinstance(cause, httpx.TransportError) and not unsendable
    return Failure(error, can_help and (not_connected or call.is_repeatable))


def cut_off(call: Call) -> Failure:
    """Return the failure of an answer that ended as if it were whole, without its end.

    The service was stopped, or the caller's right was revoked; a proxy didn't pass on
    that the answer broke off.
    """
    error = ConnectionFailedError(
        f"the answer to {call.what} was cut off", code="connection_failed"
    )
    return Failure(error, is_retryable=True)


def refusal(
    call: Call, status: int, headers: Mapping[str, str], body: bytes
) -> Failure:
    """Return the failure that an answer says."""
    data, message = _envelope(body)
    retry_after_s = _retry_after_s(headers)
    if data is None:
        return _not_of_the_service(call, status, headers, retry_after_s)
    code = str(data["code"])
    error_type = BY_CODE.get(code) or BY_STATUS.get(status, AgentRuntimeError)
    error = error_type(
        message,
        code=code,
        status=status,
        problems=[
            Problem(str(each.get("path")), str(each.get("message")))
            for each in data.get("errors", ())
        ],
        request_id=data.get("request_id"),
        idempotency_key=call.idempotency_key,
        etag=headers.get("ETag"),
        retry_after_s=retry_after_s,
    )
    if code == "outcome_unknown":
        return Failure(error, call.is_repeatable)
    if code == "too_many_conflicts":
        return Failure(error, is_retryable=True)
    waits = status == TOO_MANY_REQUESTS or status in GATEWAY
    return Failure(error, waits and retry_after_s is not None)


def unreadable(call: Call, status: int) -> AgentRuntimeError:
    """Return the error of a success that isn't one of this API."""
    return UnreadableAnswerError(
        f"the answer to {call.what} is not one of this API",
        code="unreadable_answer",
        status=status,
        idempotency_key=call.idempotency_key,
    )


def _untrusted_certificate(cause: BaseException) -> str | None:
    """Return why the server's certificate was refused, if that was the cause."""
    error: BaseException | None = cause
    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return error.verify_message
        error = error.__cause__ or error.__context__
    return None


def _not_of_the_service(
    call: Call, status: int, headers: Mapping[str, str], retry_after_s: float | None
) -> Failure:
    """Something between us and the service has answered: it may have passed us on."""
    may_be_done = call.operation.is_command and status in GATEWAY
    error_type: type[AgentRuntimeError] = UnreadableAnswerError
    code, advice = "unreadable_answer", ""
    if may_be_done:
        error_type, code = OutcomeUnknownError, "outcome_unknown"
    elif status == TOO_LARGE:
        error_type, code = AgentRuntimeError, "too_large"
        advice = (
            f": a proxy before it takes no body of {len(call.content or b'')} bytes, "
            "and has to be told to (nginx: client_max_body_size)"
        )
    elif httpx.codes.is_redirect(status):
        error_type, code = WrongServerError, "redirected"
        if (place := _origin(headers.get("Location", ""))) is not None:
            advice = f" but with a redirect to {place}: if that is it, call it there"
    elif status == TOO_MANY_REQUESTS:
        # As from the service: callers wait, no matter who limits the rate.
        error_type, code = RateLimitedError, "rate_limited"
    error = error_type(
        f"{call.what} was answered with {status}, not by the service{advice}",
        code=code,
        status=status,
        idempotency_key=call.idempotency_key,
        retry_after_s=retry_after_s,
    )
    return Failure(error, call.is_repeatable and status in (*GATEWAY, 429))


def _origin(url: str) -> str | None:
    """Return scheme and host of a URL; the rest may quote what was sent."""
    try:
        scheme, host, *_ = urlsplit(url)
    except ValueError:
        return None
    return f"{scheme}://{host}" if scheme and host else None


def _envelope(body: bytes) -> tuple[dict[str, Any] | None, str]:
    try:
        envelope = parse_json(body)
        data, message = envelope["data"], str(envelope["message"])
        if isinstance(data, dict) and "code" in data:
            return data, message
    except (ValueError, KeyError, TypeError):
        pass
    return None, ""


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    given = headers.get("Retry-After")
    if given is None:
        return None
    try:
        if given.isdecimal():
            return float(given)
        until = parsedate_to_datetime(given).astimezone(UTC)
    except ValueError:
        return None
    return max(0.0, (until - datetime.now(UTC)).total_seconds())
