"""The areas of the API as the command line names them, and their verbs.

The verbs are the methods of the client's resources, so a new operation is a new verb
without any work here.
"""

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

THINGS: Final[Mapping[str, str]] = {
    "agents": "agents, their managers and readers",
    "approvals": "tool calls that a person is asked about",
    "audit": "the audit trail: read, follow, export, verify",
    "calls": "tool calls of agents, each with its explanation",
    "connections": "connections to servers of models",
    "connectors": "connectors, their publication and grants",
    "contracts": "contract prices: discounts and prices of your own",
    "model-calls": "model calls of agents, each with its reasons and its cost",
    "presets": "presets: which connection and model answer a call",
    "prices": "providers, models and their prices",
    "routing": "which preset answers each model that an agent names",
    "rules": "tool rules: which tools an agent may call",
    "secrets": "your secrets",
    "service": "readiness, metrics and the API's documents",
    "sessions": "sessions with their turns, tokens and cost",
    "tiers": "the registry of tiers",
    "usage": "sums of tokens and cost",
    "users": "users, their roles and tokens",
}
# Commands that belong to no area.
OTHERS: Final[Mapping[str, str]] = {
    "api": "call any path of the API",
    "completion": "print the completion script for a shell",
}

# Of the client, where the thing has a shorter name.
AREAS: Final[Mapping[str, str]] = {
    "connections": "model_connections",
    "model-calls": "model_calls",
    "routing": "model_routing",
    "rules": "tool_rules",
}
_VERBS: Final[Mapping[str, str]] = {"get": "show", "get_by_name": "find"}
# Methods whose verbs are written by hand, because they write files or never end.
_BY_HAND: Final = {
    ("audit", "stream"),
    ("audit", "export_jsonl"),
    ("audit", "export_csv"),
}


def resource_of(thing: str) -> type[Any]:
    """Return the client's resource class of a thing."""
    resources = import_module("agent_runtime_client._sync.resources")
    area = AREAS.get(thing, thing)
    name = "".join(part.title() for part in area.split("_")) + "Resource"
    found: type[Any] = getattr(resources, name)
    return found


def methods_of(thing: str) -> Iterator[tuple[str, str]]:
    """Yield verb and method name of everything that a thing can do."""
    for name in vars(resource_of(thing)):
        if not name.startswith("_") and (thing, name) not in _BY_HAND:
            verb = _VERBS.get(name) or name.removeprefix("get_")
            yield verb.replace("_", "-"), name
