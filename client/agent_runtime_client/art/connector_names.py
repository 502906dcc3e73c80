"""The names of connectors, for people who review rules."""

from collections.abc import Collection, Mapping
from typing import Any

from agent_runtime_client.art import output
from agent_runtime_client.art.things import resource_of
from agent_runtime_client.errors import ForbiddenError, NotFoundError


def names_of(caller: Any, connector_ids: Collection[str]) -> dict[str, str]:
    """Return the names of connectors by id, without those that the caller can't see."""
    connectors = resource_of("connectors")(caller)
    names = {}
    for connector_id in sorted(connector_ids):
        try:
            names[connector_id] = output.cell(connectors.get(connector_id)["name"])
        except (ForbiddenError, NotFoundError):
            continue
    return names


def labels_of(caller: Any, difference: Mapping[str, Any]) -> dict[str, str]:
    """Return name and id of each connector of a plan, or of compared decisions."""
    rules = [*difference.get("added", ()), *difference.get("removed", ())]
    ids = {each["connector_id"] for each in [*rules, *difference["connectors"]]}
    ids |= {*difference.get("not_observed", ())}
    names = names_of(caller, ids)
    return {each: label(each, names) for each in ids}


def label(connector_id: str, names: Mapping[str, str]) -> str:
    if connector_id not in names:
        return connector_id
    return f"{names[connector_id]} ({connector_id})"
