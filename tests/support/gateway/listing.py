"""Tool definitions as a server lists them."""

from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from service.gateway.definition import ToolDefinition, canonical_json
from service.tool_definitions.aggregate import ToolDefinitions

CREATE = {"name": "issues.create", "inputSchema": {"type": "object"}}
LIST = {"name": "issues.list", "inputSchema": {"type": "object"}}


def seen(*listed: Mapping[str, Any]) -> dict[str, Any]:
    found = {}
    for each in map(ToolDefinition.of, listed):
        document = canonical_json(each.document).decode()
        found[each.name] = {"digest": each.digest, "document": document}
    return found


def observed(*listed: Mapping[str, Any]) -> ToolDefinitions:
    definitions = ToolDefinitions(connector_id=str(uuid4()))
    definitions.observe(seen(*listed), {})
    return definitions
