"""Reads the OpenAPI document into what the client is made of."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from client.generator.names import area_of, method_of
from client.generator.types import Type, Types
from service.app import operations
from service.http.envelope import to_json
from service.http.openapi.document import document

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """A path or query parameter, or a field of a body."""

    # In Python; ``key`` is its name in the request.
    name: str
    key: str
    type: Type
    is_required: bool
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Paged:
    """How a list's pages go on; see ``Paging`` of the client."""

    items: str
    item: str
    parameter: str
    cursor: tuple[str, ...]
    more: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Described:
    """An operation of the document."""

    name: str
    area: str
    method_name: str
    method: str
    path: str
    summary: str
    description: str
    path_parameters: list[Parameter]
    query: list[Parameter]
    body: list[Parameter]
    # Content types of a body that isn't described.
    raw_body: list[str]
    takes_key: bool
    takes_if_match: bool
    takes_handling: bool
    takes_min_position: bool
    public: bool
    # None: no data. For JSON without an envelope see ``content_type``.
    answer: Type | None
    content_type: str
    has_envelope: bool
    paged: Paged | None
    # The list within a resource, as a method of its own.
    is_list_within: bool = False

    @property
    def is_list(self) -> bool:
        """Whether the answer is nothing but a list; else it is of one resource."""
        whole = not self.path.endswith("}")
        return self.paged is not None and (whole or self.is_list_within)


def current_document() -> Json:
    """Return the document of the code, as the service would serve it."""
    documented = [each for each in operations() if each.documented]
    empty: Json = {"operations": {}, "refusals": {}}
    served: Json = json.loads(to_json(document(documented, empty)))
    return served


def described(whole: Json, types: Types) -> list[Described]:
    """Return the operations in the order of the document."""
    found: list[Described] = []
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            found.append(_operation(whole, types, path, method.upper(), operation))
    return _without_collisions(found)


def _operation(
    whole: Json, types: Types, path: str, method: str, operation: Json
) -> Described:
    parameters = [_resolved(whole, each) for each in operation.get("parameters", [])]
    headers = {each["name"] for each in parameters if each["in"] == "header"}
    content = operation.get("requestBody", {}).get("content", {})
    schema = content.get("application/json", {}).get("schema", {})
    body_schema = types.resolved(schema) if "$ref" in schema else {}
    content_type, data, has_envelope = _answer(operation)
    query = [_parameter(types, each) for each in parameters if each["in"] == "query"]
    page = types.resolved(data) if data and "$ref" in data else {}
    paged = _paged(types, page, {each.key for each in query})
    raw = [] if body_schema else list(content)
    return Described(
        name=operation["operationId"],
        area=area_of(path),
        method_name=method_of(
            operation["operationId"],
            method,
            path,
            is_list=paged is not None and not path.endswith("}"),
        ),
        method=method,
        path=path,
        summary=operation["summary"],
        description=operation.get("description", ""),
        path_parameters=[
            _path_parameter(types, path, each)
            for each in parameters
            if each["in"] == "path"
        ],
        query=query,
        body=_body(types, body_schema),
        raw_body=raw,
        takes_key="Idempotency-Key" in headers,
        takes_if_match="If-Match" in headers,
        takes_handling="Prefer" in headers,
        takes_min_position="X-Min-Position" in headers,
        public=operation.get("security") == [],
        answer=None if not data or data == {"type": "null"} else types.of(data),
        content_type=content_type,
        has_envelope=has_envelope,
        paged=paged,
    )


def _resolved(whole: Json, parameter: Json) -> Json:
    if "$ref" not in parameter:
        return parameter
    found: Json = whole["components"]["parameters"][parameter["$ref"].split("/")[-1]]
    return found


def _answer(operation: Json) -> tuple[str, Json | None, bool]:
    """Return content type, schema of the data, and whether it is in an envelope."""
    for status, answer in sorted(operation["responses"].items()):
        if not status.startswith("2"):
            continue
        for content_type, content in answer.get("content", {}).items():
            schema = content["schema"]
            properties = schema.get("properties", {})
            if {"data", "message", "status_code"} <= properties.keys():
                return content_type, properties["data"], True
            return content_type, schema, False
    return "", None, False


def _parameter(types: Types, parameter: Json) -> Parameter:
    return Parameter(
        name=_python_name(parameter["name"]),
        key=parameter["name"],
        type=types.of(parameter["schema"]),
        is_required=parameter.get("required", False),
        description=parameter.get("description", ""),
    )


def _path_parameter(types: Types, path: str, parameter: Json) -> Parameter:
    found = _parameter(types, parameter)
    if parameter["name"] != "id":
        return found
    # By the collection before it: connectors/{id} takes a connector_id.
    before = path.partition("/{id}")[0].rpartition("/")[2].removesuffix("s")
    return Parameter(
        name=f"{before.replace('-', '_')}_id",
        key=found.key,
        type=found.type,
        is_required=True,
        description=found.description,
    )


def _body(types: Types, schema: Json) -> list[Parameter]:
    required = schema.get("required", [])
    return [
        Parameter(
            name=_python_name(name),
            key=name,
            type=types.of(field),
            is_required=name in required,
            description=field.get("description", ""),
        )
        for name, field in schema.get("properties", {}).items()
    ]


def _paged(types: Types, page: Json, query: set[str]) -> Paged | None:
    """Recognize a list: one field of items, and a cursor or offset to go on from."""
    properties: Mapping[str, Json] = page.get("properties", {})
    lists = [name for name, each in properties.items() if each.get("type") == "array"]
    if len(lists) > 1:
        lists = [name for name in lists if f"has_more_{name}" in properties]
    if len(lists) != 1:
        return None
    [items] = lists
    nested = properties.get("pagination", {})
    inner = types.resolved(nested).get("properties", {}) if "$ref" in nested else {}
    cursor: tuple[str, ...] = ()
    more: tuple[str, ...] = ()
    if "end_cursor" in properties:
        cursor = ("end_cursor",)
    elif "end_cursor" in inner:
        cursor = ("pagination", "end_cursor")
    for name in ("has_next_page", f"has_more_{items}"):
        if name in properties:
            more = (name,)
        elif name in inner:
            more = ("pagination", name)
    going_on = ("after", "before") if cursor else ("offset",) if more else ()
    parameter = next((each for each in going_on if each in query), None)
    if parameter is None:
        return None
    return Paged(
        items=items,
        item=types.of(properties[items]["items"]).annotation,
        parameter=parameter,
        cursor=cursor,
        more=more,
    )


def _python_name(name: str) -> str:
    return re.sub(r"[^a-zA-Z0-9]", "_", name)


def _without_collisions(found: list[Described]) -> list[Described]:
    """Call a method after its operation where two would have the same name."""
    names = [(each.area, each.method_name) for each in found]
    return [
        replace(each, method_name=each.name) if names.count(name) > 1 else each
        for each, name in zip(found, names, strict=True)
    ]
