"""The parameters of an operation: path, query and headers."""

from typing import Any, Final

from service.http.openapi.descriptions import PATH, QUERY
from service.http.openapi.schemas import Schema, Schemas
from service.http.operation import Operation
from service.http.requests import POSITION_MAX

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "RequestId": {
        "name": "X-Request-Id",
        "in": "header",
        "description": "Identifies this request in answers, logs and the audit "
        "trail: 1 to 64 letters, digits, `.`, `_` or `-`. Otherwise an id is "
        "generated.",
        "schema": {"type": "string"},
        "example": "checkout-7f3a",
    },
    "TraceParent": {
        "name": "traceparent",
        "in": "header",
        "description": "W3C trace context, stored with the events of this request. "
        "Invalid values are ignored.",
        "schema": {"type": "string"},
        "example": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes a command safe to repeat: the first success is stored "
        "and returned again. Reuse for another request is rejected with 422.",
        "schema": {
            "type": "string",
            "minLength": 1,
            "maxLength": 255,
            "pattern": "^[ -~]+$",
        },
        "example": "2b1f6c1e-rules-of-monday",
    },
    "IfMatch": {
        "name": "If-Match",
        "in": "header",
        "description": "The ETag that the change is based on. If the resource has "
        "changed since, the request is rejected with 412.",
        "schema": {"type": "string", "pattern": '^"[0-9]{1,18}"$'},
        "example": '"3"',
    },
    "Prefer": {
        "name": "Prefer",
        "in": "header",
        "description": "`handling=strict` (RFC 7240) has what would be answered with "
        "warnings rejected with 422 instead; nothing is recorded then. Other "
        "preferences are ignored.",
        "schema": {"type": "string"},
        "example": "handling=strict",
    },
    "MinPosition": {
        "name": "X-Min-Position",
        "in": "header",
        "description": "The X-Event-Position of an earlier answer. The service waits "
        "until this answer reflects it (read your own writes).",
        "schema": {"type": "integer", "minimum": 0, "maximum": POSITION_MAX},
        "example": 42,
    },
    "LogEpoch": {
        "name": "X-Log-Epoch",
        "in": "header",
        "description": "The X-Log-Epoch of the answer that X-Min-Position is from. "
        "Rejected with 409 if the log was restored from a backup since: positions "
        "then refer to other events.",
        "schema": {"type": "string", "format": "uuid"},
    },
}


def parameters(
    operation: Operation, schemas: Schemas, example: dict[str, Any]
) -> list[Schema]:
    return [
        *_path(operation, schemas, example.get("path", {})),
        *_query(operation, schemas, example.get("query", {})),
        *({"$ref": f"#/components/parameters/{name}"} for name in _headers(operation)),
    ]


def _path(
    operation: Operation, schemas: Schemas, example: dict[str, Any]
) -> list[Schema]:
    found = []
    for name, adapter in operation.path_types.items():
        schema = schemas.of_parameter(adapter)
        parameter = {
            "name": name,
            "in": "path",
            "required": True,
            "description": schema.pop("description", None)
            or PATH.get(name)
            or _thing(operation, name),
            "schema": schema,
        }
        if name in example:
            parameter["example"] = example[name]
        found.append(parameter)
    return found


def _query(
    operation: Operation, schemas: Schemas, example: dict[str, Any]
) -> list[Schema]:
    if operation.query is None:
        return []
    whole = schemas.of_parameters(operation.query)
    found = []
    for name, described in whole["properties"].items():
        schema = _without_null(described)
        parameter: Schema = {"name": name, "in": "query"}
        if name in whole.get("required", ()):
            parameter["required"] = True
        description = schema.pop("description", QUERY.get(name))
        if description is not None:
            parameter["description"] = description
        is_list = schema.get("type") == "array"
        if is_list:
            # One parameter whose items are separated by commas.
            parameter |= {"style": "form", "explode": False}
        parameter["schema"] = schema
        if name in example:
            shown = example[name]
            parameter["example"] = shown.split(",") if is_list else shown
        found.append(parameter)
    return found


def _headers(operation: Operation) -> list[str]:
    names = ["RequestId"]
    if operation.idempotent_key:
        names += ["IdempotencyKey"]
    if operation.if_match:
        names += ["IfMatch"]
    if operation.takes_handling:
        names += ["Prefer"]
    if operation.min_position:
        names += ["MinPosition", "LogEpoch"]
    if operation.method != "GET":
        names += ["TraceParent"]
    return names


def _without_null(schema: Schema) -> Schema:
    """Leave null out of the choices: a query has no way to say it."""
    schema = dict(schema)
    if schema.get("default", ...) is None:
        del schema["default"]
    choices = [each for each in schema.get("anyOf", []) if each != {"type": "null"}]
    if len(choices) == 1:
        del schema["anyOf"]
        schema = {**choices[0], **schema}
        choices = []
    if choices:
        schema["anyOf"] = choices
    return schema


def _thing(operation: Operation, name: str) -> str:
    """Describe ``agent_id``, or ``id`` by the collection before it."""
    thing = name.removesuffix("_id")
    if thing == "id":
        before = operation.path.split("/{id}")[0]
        thing = before.rsplit("/", 1)[-1].removesuffix("s")
    words = thing.replace("_", " ")
    return f"The {words}'s id." if name.endswith("id") else f"The {words}."
