"""Build the OpenAPI document, once for each process."""

import hashlib
import inspect
import json
from collections.abc import Sequence
from functools import cached_property
from importlib import resources
from typing import Any, Final

from service import __version__
from service.http.envelope import to_json
from service.http.openapi import answers, parameters
from service.http.openapi.schemas import Schema, Schemas
from service.http.operation import Operation

EXAMPLES: Final = "examples.json"
DESCRIPTION: Final = """\
The control plane of an agent runtime: which tools an agent may call through which
connectors, secrets, sessions of agents with their tokens and cost, and prices of
models over time.

**Answers.** Every JSON answer is an envelope, `{"data", "message", "status_code"}`,
for errors too: there `data` is `{"code", "errors", "request_id"}`, and `errors` lists
all problems found in the request. Times in answers are RFC 3339 in UTC; in requests
they are ISO 8601, and a time without a zone is UTC. Money is exact: JSON numbers with
all of their decimal digits, never rounded by the service.

**Requests.** Unknown fields and unknown or repeated query parameters are rejected. A
body is at most 1 MiB of JSON, at most 32 levels deep, without repeated keys.

**Authentication.** Send `Authorization: Bearer art_...`. Users with the role
`superuser` issue tokens for others; the first token is written to a file when the
service first starts.

**Read your own writes.** A command answers with `X-Event-Position`, its position in
the log. Lists are updated from the log shortly afterwards; send the position as
`X-Min-Position` to wait for it. If you store it for long, send the answer's
`X-Log-Epoch`, too: after the log was restored from a backup, positions refer to other
events.

**Concurrent changes and retries.** `If-Match` makes a change conditional on a version
(`ETag`), and `Idempotency-Key` makes it safe to repeat.
"""


class ApiDocument:
    """The document of some operations, rendered when it is first asked for."""

    def __init__(self, operations: Sequence[Operation]) -> None:
        self._operations = operations

    @cached_property
    def body(self) -> bytes:
        return to_json(document(self._operations, recorded_examples()))

    def rendered(self) -> tuple[bytes, str]:
        """Return the body and the ETag."""
        return self.body, self.etag

    @cached_property
    def etag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:32]}"'


def recorded_examples() -> dict[str, Any]:
    """Return real requests and their real answers, by operation.

    ``make examples`` runs the service and records them anew.
    """
    file = resources.files("service.http.openapi") / EXAMPLES
    examples: dict[str, Any] = json.loads(file.read_text())
    return examples


def document(operations: Sequence[Operation], examples: dict[str, Any]) -> Schema:
    """Describe operations in OpenAPI 3.1.

    :raises ValueError: when two operations, or two types, have the same name
    """
    schemas = Schemas()
    schemas.named["Error"] = answers.ERROR
    paths: dict[str, Schema] = {}
    names: set[str] = set()
    for operation in operations:
        if operation.name in names:
            raise ValueError(f"two operations are named {operation.name}")
        names.add(operation.name)
        shown = examples["operations"].get(operation.name, {})
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(
            operation, schemas, shown
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Agent Runtime",
            "version": __version__,
            "summary": "Tool rules, connectors, secrets, sessions and prices.",
            "description": DESCRIPTION,
        },
        "servers": [
            {"url": "/", "description": "The service that this document comes from."}
        ],
        "security": [{"bearer": []}],
        "tags": _tags(operations),
        "paths": paths,
        "components": {
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "bearerFormat": "art_ and 36 characters",
                    "description": "A token of this service.",
                }
            },
            "parameters": parameters.HEADERS,
            "headers": answers.HEADERS,
            "responses": answers.shared_answers(examples["refusals"]),
            "schemas": dict(sorted(schemas.named.items())),
        },
    }


def _tags(operations: Sequence[Operation]) -> list[Schema]:
    """Return the tags in the order of their first operation."""
    described: dict[str, str] = {}
    for each in operations:
        described[each.tag] = described.get(each.tag) or each.tag_description
    return [{"name": name, "description": words} for name, words in described.items()]


def _described(operation: Operation, schemas: Schemas, shown: dict[str, Any]) -> Schema:
    summary, _, description = (inspect.getdoc(operation.function) or "").partition("\n")
    described: Schema = {
        "operationId": operation.name,
        "tags": [operation.tag],
        "summary": summary.removesuffix("."),
    }
    if description.strip():
        described["description"] = description.strip()
    if operation.public:
        described["security"] = []
    taken = parameters.parameters(operation, schemas, shown)
    if taken:
        described["parameters"] = taken
    if operation.takes_body:
        described["requestBody"] = _body(operation, schemas, shown)
    described["responses"] = answers.answers(operation, schemas, shown)
    return described


def _body(operation: Operation, schemas: Schemas, shown: dict[str, Any]) -> Schema:
    content: dict[str, Schema] = {}
    if operation.body is not None:
        content["application/json"] = {"schema": schemas.of_request(operation.body)}
        example = shown.get("body", operation.body_example)
        if example is not None:
            content["application/json"]["example"] = example
    for content_type in operation.raw_body:
        content[content_type] = {"schema": {}}
    return {"required": True, "content": content}
