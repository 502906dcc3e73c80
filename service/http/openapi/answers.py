"""The responses of an operation: successes, errors and their headers."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from service.http.openapi.schemas import Schema, Schemas
from service.http.operation import Operation

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "RequestId": {
        "description": "The id of the request: the caller's, or a generated one.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "EventPosition": {
        "description": "The log position that this answer reflects, or that the "
        "command was recorded at. Absent when a command changed nothing.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "LogEpoch": {
        "description": "The id of the log that X-Event-Position refers to. It changes "
        "when the log is restored from a backup.",
        "schema": {"type": "string", "format": "uuid"},
    },
    "ETag": {
        "description": "The version of the resource, for If-Match or If-None-Match.",
        "schema": {"type": "string"},
    },
    "Location": {
        "description": "The address of the new resource.",
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "IdempotentReplayed": {
        "description": "Present when this answer was stored for an Idempotency-Key and "
        "is repeated, as the version of the service that stored it wrote it: in the 24 "
        "hours after an upgrade, fields that are new may be missing.",
        "schema": {"type": "string", "const": "true"},
    },
    "PreferenceApplied": {
        "description": "Present when the request's `Prefer: handling=strict` was "
        "honored: there are no warnings.",
        "schema": {"type": "string", "const": "handling=strict"},
    },
    "RetryAfter": {
        "description": "Seconds to wait before retrying.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "WWWAuthenticate": {
        "description": "How to authenticate.",
        "required": True,
        "schema": {"type": "string"},
    },
}

ERROR: Final[Schema] = {
    "type": "object",
    "description": "The envelope of every error.",
    "required": ["data", "message", "status_code"],
    "properties": {
        "data": {
            "type": "object",
            "required": ["code", "errors", "request_id"],
            "properties": {
                "code": {
                    "type": "string",
                    "pattern": "^[a-z][a-z0-9_]*$",
                    "description": "A stable error code for programs.",
                },
                "errors": {
                    "type": "array",
                    "description": "All problems found in the request.",
                    "items": {
                        "type": "object",
                        "required": ["path", "message"],
                        "properties": {
                            "path": {"type": "string", "examples": ["rules[3].stance"]},
                            "message": {"type": "string"},
                        },
                    },
                },
                "request_id": {"type": "string"},
            },
        },
        "message": {"type": "string", "description": "A sentence for people."},
        "status_code": {
            "type": "integer",
            "format": "int32",
            "minimum": 400,
            "description": "The same as the HTTP status.",
        },
    },
}

REFUSALS: Final = {
    400: "The request is malformed: not JSON, or an unknown, repeated or invalid "
    "parameter or header.",
    401: "There is no valid token. The answer is the same whether it is missing, "
    "malformed, unknown or revoked.",
    403: "The caller may not do this.",
    404: "The resource doesn't exist, or the caller may not see it.",
    409: "The request conflicts with the current state, or with too many concurrent "
    "changes; or X-Log-Epoch is that of another log.",
    412: "If-Match isn't the current version, or the log hasn't reached "
    "X-Min-Position.",
    413: "The body is too large.",
    415: "The body has an unsupported content type, or is compressed.",
    421: "This process answers reads only (`--reads-only`); send the request to one "
    "that writes.",
    422: "The request is well-formed but invalid, or its Idempotency-Key was used for "
    "another request.",
    429: "Too many invalid tokens from this address, or too many calls of this "
    "operation.",
    503: "The service is temporarily unavailable; retry later.",
}
_REFUSAL_NAMES: Final = {
    400: "Malformed",
    401: "Unauthenticated",
    403: "Forbidden",
    404: "NotFound",
    409: "Conflict",
    412: "PreconditionFailed",
    413: "TooLarge",
    415: "UnsupportedMediaType",
    421: "Misdirected",
    422: "Invalid",
    429: "TooMany",
    503: "Unavailable",
}


def answers(
    operation: Operation, schemas: Schemas, example: dict[str, Any]
) -> dict[str, Schema]:
    """Return the answers by status; what all operations share are references."""
    found: dict[int, Schema] = {
        status: {"$ref": f"#/components/responses/{_REFUSAL_NAMES[status]}"}
        for status in _shared(operation)
    }
    for status, words in operation.answers.items():
        found[status] = _own(operation, schemas, status, words, example)
    if operation.also_answers_in:
        found = {
            status: _also_in(operation.also_answers_in, status, answer)
            for status, answer in found.items()
        }
    return {str(status): found[status] for status in sorted(found)}


def shared_answers(examples: dict[str, Any]) -> dict[str, Schema]:
    """Return the refusals that many operations share, by name."""
    return {
        _REFUSAL_NAMES[status]: _refusal(status, words, examples.get(str(status)))
        for status, words in REFUSALS.items()
    }


def _shared(operation: Operation) -> set[int]:
    statuses = {400}
    if not operation.public:
        statuses |= {401, 429, 503}
    if operation.path_types:
        statuses |= {404}
    if operation.method != "GET":
        statuses |= {403, 409, 421}
    if operation.min_position:
        statuses |= {409}
    if operation.idempotent_key:
        statuses |= {422}
    if operation.if_match or operation.min_position:
        statuses |= {412}
    if operation.takes_body:
        statuses |= {413, 415, 422}
    return statuses


def _own(
    operation: Operation,
    schemas: Schemas,
    status: int,
    words: str,
    example: dict[str, Any],
) -> Schema:
    shown = example.get("answers", {}).get(str(status))
    if status >= HTTPStatus.BAD_REQUEST:
        if status == HTTPStatus.SERVICE_UNAVAILABLE and operation.public:
            # A probe says what it found, also when that is bad news.
            return _success(operation, schemas, status, words, shown)
        return _refusal(status, _sentence(words), shown)
    return _success(operation, schemas, status, words, shown)


def _success(
    operation: Operation, schemas: Schemas, status: int, words: str, shown: Any
) -> Schema:
    answer: Schema = {
        "description": _sentence(words),
        "headers": _headers_of(operation, status),
    }
    if status == HTTPStatus.NOT_MODIFIED:
        return answer
    content: Schema = {"schema": _content(operation, schemas, status, words)}
    if shown is not None:
        content["example"] = shown
    answer["content"] = {operation.content_type or "application/json": content}
    return answer


def _content(operation: Operation, schemas: Schemas, status: int, words: str) -> Schema:
    if operation.content_type == "application/json":
        return schemas.of_answer(operation.data) if operation.data else {}
    if operation.content_type is not None:
        return {"type": "string"}
    return {
        "type": "object",
        "required": ["data", "message", "status_code"],
        "properties": {
            "data": schemas.of_answer(operation.data),
            "message": {"type": "string", "examples": [words]},
            "status_code": {"type": "integer", "format": "int32", "const": status},
        },
    }


def _also_in(content_types: Sequence[str], status: int, answer: Schema) -> Schema:
    """Add content types whose form the document can't describe."""
    if "$ref" in answer:
        answer = _refusal(status, REFUSALS[status], None)
    for content_type in content_types:
        answer["content"][content_type] = {"schema": {}}
    return answer


def _refusal(status: int, words: str, shown: Any) -> Schema:
    content: Schema = {"schema": {"$ref": "#/components/schemas/Error"}}
    if shown is not None:
        content["example"] = shown
    names = ["X-Request-Id"]
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        names += ["Retry-After"]
    if status == HTTPStatus.UNAUTHORIZED:
        names += ["WWW-Authenticate"]
    return {
        "description": words,
        "headers": _references(*names),
        "content": {"application/json": content},
    }


def _headers_of(operation: Operation, status: int) -> dict[str, Schema]:
    names = ["X-Request-Id"]
    if operation.method != "GET" or operation.min_position:
        names += ["X-Event-Position", "X-Log-Epoch"]
    if _has_version(operation):
        names += ["ETag"]
    if operation.method == "POST" and status == HTTPStatus.CREATED:
        names += ["Location"]
    if operation.idempotent_key:
        names += ["Idempotent-Replayed"]
    if operation.takes_handling:
        names += ["Preference-Applied"]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        names += ["Retry-After"]
    return _references(*names)


def _has_version(operation: Operation) -> bool:
    return (
        operation.if_match
        or HTTPStatus.NOT_MODIFIED in operation.answers
        or "version" in getattr(operation.data, "__annotations__", {})
    )


def _references(*names: str) -> dict[str, Schema]:
    return {
        name: {"$ref": f"#/components/headers/{_component(name)}"} for name in names
    }


def _component(header: str) -> str:
    return header.removeprefix("X-").replace("-", "")


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:].removesuffix(".") + "."
