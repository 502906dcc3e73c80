"""Tool definitions as the API shows them."""

import json
from typing import Any
from uuid import UUID

import orjson
from typing_extensions import TypedDict

from service.gateway.definitions.difference import Difference, differences
from service.gateway.schemas.hidden import HiddenCharacters
from service.gateway.schemas.presented import presented
from service.tool_definitions.aggregate import Standing, ToolDefinitions


class ToolDefinitionResource(TypedDict):
    """A tool of a connector.

    ``digest`` is that of the definition that the upstream lists, null if it is gone;
    ``accepted_digest`` that of the accepted one. ``differences`` are those between the
    two, ``definition`` is what the upstream lists. ``reason`` says why it can't be
    accepted, and ``left_out`` what of it agents don't see, as strict clients would
    refuse their whole list of tools for it, each with its reason; also where hidden
    characters are removed or marked, or stay, as calls need them. ``name_escaped``
    shows characters of the name that can't be seen.
    """

    tool: str
    name_escaped: str
    standing: Standing
    digest: str | None
    accepted_digest: str | None
    reason: str | None
    left_out: list[str]
    definition: dict[str, Any] | None
    differences: list[Difference]


class DefinitionsResource(TypedDict):
    connector_id: UUID
    version: int
    tools: list[ToolDefinitionResource]


def definitions_resource(
    connector_id: UUID,
    definitions: ToolDefinitions | None,
    hidden: HiddenCharacters,
) -> DefinitionsResource:
    names = (
        {*definitions.observed, *definitions.accepted} if definitions else frozenset()
    )
    return {
        "connector_id": connector_id,
        "version": definitions.version if definitions else 0,
        "tools": [
            _tool_resource(name, definitions, hidden)
            for name in sorted(names)
            if definitions
        ],
    }


def _tool_resource(
    name: str, definitions: ToolDefinitions, hidden: HiddenCharacters
) -> ToolDefinitionResource:
    observed = definitions.observed.get(name)
    accepted = definitions.accepted.get(name)
    standing = definitions.standing(name)
    assert standing is not None, "the name is known"
    now = orjson.loads(observed["document"]) if observed else None
    was = orjson.loads(accepted["document"]) if accepted else None
    reason = definitions.unacceptable.get(name)
    return {
        "tool": name,
        "name_escaped": json.dumps(name)[1:-1],
        "standing": standing,
        "digest": observed["digest"] if observed else None,
        "accepted_digest": accepted["digest"] if accepted else None,
        "reason": reason,
        "left_out": (
            [*presented(now, hidden).left_out]
            if now is not None and reason is None
            else []
        ),
        "definition": now,
        "differences": (differences(was, now) if standing is Standing.CHANGED else []),
    }
