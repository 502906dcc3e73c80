"""The document as a measure: what it says of an answer, read strictly."""

from collections.abc import Iterator
from copy import deepcopy
from functools import cache
from typing import Any

import orjson
from jsonschema import Draft202012Validator
from jsonschema.validators import validator_for

from service.app import operations
from service.http.envelope import to_json
from service.http.openapi.document import document, recorded_examples

Json = dict[str, Any]


def documented() -> list[Any]:
    return [operation for operation in operations() if operation.documented]


def current_document() -> Json:
    """Return the document as a reader would."""
    served: Json = orjson.loads(_rendered())
    return served


@cache
def _rendered() -> bytes:
    return to_json(document(documented(), recorded_examples()))


def closed(described: Json) -> Json:
    """Return the document with every object limited to the fields it names.

    The served one leaves answers open, so that a field can be added; here a field
    that nobody has described is a fault.
    """
    described = deepcopy(described)
    for schema in _objects(described):
        schema.setdefault("additionalProperties", False)
    return described


def faults(described: Json, pointer: str, value: Any) -> list[str]:
    """Say where a value differs from the schema at a JSON pointer of the document."""
    schema = {**described, "$ref": f"#{pointer}"}
    assert validator_for(schema, default=Draft202012Validator) is Draft202012Validator
    checker = Draft202012Validator.FORMAT_CHECKER
    validator = Draft202012Validator(schema, format_checker=checker)
    return [
        f"{each.json_path}: {each.message}" for each in validator.iter_errors(value)
    ]


def pointer_to_answer(described: Json, name: str, status: int) -> str:
    path, method, operation = find(described, name)
    answer = operation["responses"][str(status)]
    if "$ref" in answer:
        start = answer["$ref"].removeprefix("#")
    else:
        start = f"/paths/{_escaped(path)}/{method}/responses/{status}"
    return f"{start}/content/application~1json/schema"


def pointer_to_body(described: Json, name: str) -> str:
    path, method, _ = find(described, name)
    return (
        f"/paths/{_escaped(path)}/{method}/requestBody/content/application~1json/schema"
    )


def find(described: Json, name: str) -> tuple[str, str, Json]:
    """Return path, method and description of an operation."""
    for path, item in described["paths"].items():
        for method, operation in item.items():
            if operation["operationId"] == name:
                return path, method, operation
    raise KeyError(name)


def _escaped(path: str) -> str:
    return (
        path.replace("~", "~0")
        .replace("/", "~1")
        .replace("{", "%7B")
        .replace("}", "%7D")
    )


def _objects(value: Any) -> Iterator[Json]:
    if isinstance(value, list):
        for each in value:
            yield from _objects(each)
    if isinstance(value, dict):
        if value.get("type") == "object" and isinstance(value.get("properties"), dict):
            yield value
        for key, each in value.items():
            if key not in ("example", "examples"):
                yield from _objects(each)
