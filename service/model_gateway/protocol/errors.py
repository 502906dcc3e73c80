"""Errors of this service in the shapes that clients of two APIs read."""

from http import HTTPStatus
from typing import Any, Final

import orjson
from aiohttp import web

from service.http.envelope import JSON
from service.model_gateway.protocol.endpoints import Api

# https://docs.claude.com/en/api/errors
ANTHROPIC_TYPES: Final = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
}
# https://platform.openai.com/docs/guides/error-codes
OPENAI_TYPES: Final = {401: "authentication_error", 429: "rate_limit_error"}
OPENAI_CODES: Final = {"unauthenticated": "invalid_api_key"}
# Clients of both would otherwise send a refused call three times.
NO_RETRY: Final = {"x-should-retry": "false"}


def error_body(  # the members of an error
    api: Api,
    status: int,
    message: str,
    *,
    code: str,
    param: str | None = None,
    request_id: str | None = None,
) -> dict[str, Any]:
    """Return an error as a document of JSON."""
    if api is Api.ANTHROPIC:
        kind = ANTHROPIC_TYPES.get(status) or _kind(status, "api_error")
        named = {} if request_id is None else {"request_id": request_id}
        return {"type": "error", "error": {"type": kind, "message": message}, **named}
    return {
        "error": {
            "message": message,
            "type": OPENAI_TYPES.get(status) or _kind(status, "server_error"),
            "param": param,
            "code": OPENAI_CODES.get(code, code),
        }
    }


def _kind(status: int, of_server: str) -> str:
    is_ours = status >= HTTPStatus.INTERNAL_SERVER_ERROR
    return of_server if is_ours else "invalid_request_error"


def refusal_in(api: Api, envelope: web.Response, message: str) -> web.Response:
    """Convert an error's envelope to the shape of an API.

    What passes by itself may be tried again; the rest is refused as often as it is
    tried.
    """
    assert isinstance(envelope.body, bytes)
    data = orjson.loads(envelope.body)["data"]
    problems = data["errors"]
    body = error_body(
        api,
        envelope.status,
        message,
        code=data["code"],
        param=problems[0]["path"] if problems else None,
        request_id=data["request_id"],
    )
    headers = {
        name: value
        for name, value in envelope.headers.items()
        if name not in ("Content-Type", "Content-Length")
    }
    may_pass = (
        envelope.status >= HTTPStatus.INTERNAL_SERVER_ERROR or "Retry-After" in headers
    )
    return web.Response(
        body=orjson.dumps(body),
        status=envelope.status,
        headers=headers if may_pass else headers | NO_RETRY,
        content_type=JSON,
    )
