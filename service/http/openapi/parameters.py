"""What an operation takes: path, query and headers."""

from typing import Any, Final

from service.http.openapi.schemas import Schema, Schemas
from service.http.operation import Operation
from service.http.requests import POSITION_MAX

HEADERS: Final[dict[str, dict[str, Any]]] = {
    "RequestId": {
        "name": "X-Request-Id",
        "in": "header",
        "description": "Names this request in answers, logs and history. Another "
        "form than this is replaced by a fresh id.",
        "schema": {"type": "string"},
        "example": "checkout-7f3a",
    },
    "TraceParent": {
        "name": "traceparent",
        "in": "header",
        "description": "W3C trace context; kept with the events that the request "
        "causes. Any other form is ignored.",
        "schema": {"type": "string"},
        "example": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
    },
    "IdempotencyKey": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "Makes repeating a command harmless: the first success is "
        "kept and answered again. The same key with another request is refused "
        "with 422.",
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
        "description": "The ETag that the change was decided on; refused with 412 "
        "when the resource has moved on since.",
        "schema": {"type": "string", "pattern": '^"[0-9]{1,18}"$'},
        "example": '"3"',
    },
    "MinPosition": {
        "name": "X-Min-Position",
        "in": "header",
        "description": "The X-Event-Position of an earlier answer: waits until this "
        "answer reflects it, so that you read what you wrote.",
        "schema": {"type": "integer", "minimum": 0, "maximum": POSITION_MAX},
        "example": 42,
    },
    "LogEpoch": {
        "name": "X-Log-Epoch",
        "in": "header",
        "description": "The X-Log-Epoch of the answer that X-Min-Position is from: "
        "refused with 409 when the log has been restored since, so that the position "
        "means something else.",
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
            "description": schema.pop("description", _thing(operation, name)),
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
        if "description" in schema:
            parameter["description"] = schema.pop("description")
        parameter["schema"] = schema
        if name in example:
            parameter["example"] = example[name]
        found.append(parameter)
    return found


def _headers(operation: Operation) -> list[str]:
    names = ["RequestId"]
    if operation.idempotent_key:
        names += ["IdempotencyKey"]
    if operation.if_match:
        names += ["IfMatch"]
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
