"""Rules by their patterns, for a connector with the slug ``issue-tracker``."""

from typing import Any
from uuid import UUID

from tests.integration.gateway.world import World, tool
from tests.support.callers import Reply

TOOLS = [tool(name) for name in ("delete_issue", "delete_label", "list_issues", "q")]


def rules(connector: UUID, *patterns: tuple[str, str]) -> dict[str, Any]:
    return {
        "rules": [
            {"connector_id": str(connector), "tool_pattern": pattern, "stance": stance}
            for pattern, stance in patterns
        ]
    }


async def put(world: World, *patterns: tuple[str, str], **headers: str) -> Reply:
    batch = rules(world.connector_id, *patterns)
    return await world.ada.put(f"{world.agent}/tools", batch, **headers)
