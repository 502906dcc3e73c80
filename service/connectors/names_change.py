"""Warn that agents see a connector's tools under other names."""

from typing import Final, Literal
from uuid import UUID

from typing_extensions import TypedDict

from service.connectors.commands import Edit
from service.connectors.prefixes import prefixes_of
from service.connectors.resource import ConnectorResource, connector_resource

AGENTS_NAMED_MAX: Final = 20


class NamesChange(TypedDict):
    """Agents see the connector's tools under other names, which begin otherwise.

    ``agents`` hold the connector; ``agent_ids`` are the first 20 of them. Digits of the
    connector's id follow the prefix for an agent that has rules for two connectors with
    the same slug: then names of the other one's tools may change, too.
    """

    code: Literal["names_change"]
    message: str
    connector_id: UUID
    prefix_before: str
    prefix_after: str
    agents: int
    agent_ids: list[UUID]


class ChangedConnectorResource(ConnectorResource):
    """A connector, with warnings of what its change means for agents."""

    warnings: list[NamesChange]


def changed_connector_resource(edit: Edit) -> ChangedConnectorResource:
    return {**connector_resource(edit.connector), "warnings": _names_changes(edit)}


def _names_changes(edit: Edit) -> list[NamesChange]:
    connector, agents = edit.connector, edit.connector.granted_to
    before, after = (
        prefixes_of({connector.id: slug})[connector.id]
        for slug in (edit.slug_before, connector.slug)
    )
    if before == after or not agents:
        return []
    return [
        {
            "code": "names_change",
            "message": (
                f"the agents that hold it ({len(agents)}) see its tools as "
                f"'{after}_...' instead of '{before}_...' (with digits of its id for "
                "an agent that has rules for another connector with that slug, whose "
                "names change, too); change prompts and clients' permissions that name "
                "them"
            ),
            "connector_id": connector.id,
            "prefix_before": before,
            "prefix_after": after,
            "agents": len(agents),
            "agent_ids": [UUID(each) for each in agents[:AGENTS_NAMED_MAX]],
        }
    ]
