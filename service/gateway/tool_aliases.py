"""The aliases that one connector's tools can have in the lists of agents."""

from collections.abc import Collection
from uuid import UUID

from service.connectors.prefixes import prefixes_for
from service.gateway.protocol.aliases import aliases_of


def tools_by_alias(
    connector_id: UUID, slug: str, tools: Collection[str]
) -> dict[str, str]:
    """Return the tools by alias, with either prefix; it depends on the agent which."""
    return {
        alias: tool
        for prefix in prefixes_for(connector_id, slug)
        for alias, (_, tool) in aliases_of(
            {connector_id: prefix}, [(connector_id, tool) for tool in tools]
        ).items()
    }
