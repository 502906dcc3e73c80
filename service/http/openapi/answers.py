"""What an operation answers: its successes, its refusals and their headers."""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Any, Final

from service.http.openapi.schemas import Schema, Schemas
from service.http.operation import Operation

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "RequestId": {
        "description": "The request's id, as given or made.",
        "required": True,
        "schema": {"type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$"},
    },
    "EventPosition": {
        "description": "The place in the log that this answer reflects or made; a "
        "command that changed nothing has none.",
        "schema": {"type": "string", "pattern": "^[0-9]+$"},
    },
    "LogEpoch": {
        "description": "The log that X-Event-Position counts in; another one after a "
        "restore.",
        "schema": {"type": "string", "format": "uuid"},
    },
    "ETag": {
        "description": "The version of what is answered, for If-Match or "
        "If-None-Match.",
        "schema": {"type": "string"},
    },
    "Location": {
        "description": "Where the new resource is.",
        "schema": {"type": "string", "format": "uri-reference"},
    },
    "IdempotentReplayed": {
        "description": "Present when this is the kept answer of an Idempotency-Key.",
        "schema": {"type": "string", "const": "true"},
    },
    "RetryAfter": {
        "description": "Seconds after which trying again may help.",
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
    "description": "Any refusal.",
    "required": ["data", "message", "status_code"],
    "properties": {
        "data": {
            "type": "object",
            "required": ["code", "errors", "request_id"],
            "properties": {
                "code": {
                    "type": "string",
                    "pattern": "^[a-z][a-z0-9_]*$",
                    "description": "A stable name, for programs.",
                },
                "errors": {
                    "type": "array",
                    "description": "Everything that is wrong with the request.",
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
        "message": {"type": "string", "description": "For people."},
        "status_code": {
            "type": "integer",
            "format": "int32",
            "minimum": 400,
            "description": "The same as the HTTP status.",
        },
    },
}

REFUSALS: Final = {
    400: "The request can't be read: not JSON, or a parameter or header that is "
    "unknown, repeated or not valid.",
    401: "There is no valid token. The answer is the same for a missing, malformed, "
    "unknown and revoked one.",
    403: "The caller may not do this.",
    404: "There is no such thing, or none that the caller can see.",
    409: "It clashes with what is there, or others changed the same thing again and "
    "again; or X-Log-Epoch names another log.",
    412: "If-Match names another version than the current one, or X-Min-Position a "
    "position that the log hasn't reached.",
    413: "The body is too large.",
    415: "The body is of another type than this operation takes, or compressed.",
    422: "The request can be read, but breaks a rule; or its Idempotency-Key was used "
    "for another request.",
    429: "Too many refused tokens from this address, or too many calls of this "
    "operation.",
    503: "Nothing is wrong with the request; try again later.",
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
        statuses |= {403, 409}
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
    names = ["RequestId"]
    if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE):
        names += ["RetryAfter"]
    if status == HTTPStatus.UNAUTHORIZED:
        names += ["WWWAuthenticate"]
    return {
        "description": words,
        "headers": _references(*names),
        "content": {"application/json": content},
    }


def _headers_of(operation: Operation, status: int) -> dict[str, Schema]:
    names = ["RequestId"]
    if operation.method != "GET" or operation.min_position:
        names += ["EventPosition", "LogEpoch"]
    if _has_version(operation):
        names += ["ETag"]
    if operation.method == "POST" and status == HTTPStatus.CREATED:
        names += ["Location"]
    if operation.idempotent_key:
        names += ["IdempotentReplayed"]
    if status == HTTPStatus.SERVICE_UNAVAILABLE:
        names += ["RetryAfter"]
    return _references(*names)


def _has_version(operation: Operation) -> bool:
    return (
        operation.if_match
        or HTTPStatus.NOT_MODIFIED in operation.answers
        or "version" in getattr(operation.data, "__annotations__", {})
    )


def _references(*names: str) -> dict[str, Schema]:
    return {
        _HEADER_NAMES[name]: {"$ref": f"#/components/headers/{name}"} for name in names
    }


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:].removesuffix(".") + "."


_HEADER_NAMES: Final = {
    "RequestId": "X-Request-Id",
    "EventPosition": "X-Event-Position",
    "LogEpoch": "X-Log-Epoch",
    "ETag": "ETag",
    "Location": "Location",
    "IdempotentReplayed": "Idempotent-Replayed",
    "RetryAfter": "Retry-After",
    "WWWAuthenticate": "WWW-Authenticate",
}
