"""Observe an upstream's tools without one."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from service.event_log.execute import execute
from service.event_log.protocol import CommandLog
from service.gateway.definition import ToolDefinition
from service.gateway.definitions.commands import (
    ObserveDefinitions,
    observe_definitions,
)


async def observe(
    log: CommandLog, connector_id: UUID, listed: Sequence[Mapping[str, Any]]
) -> bool:
    """Record tools as an upstream lists them; return whether anything differs."""
    command = ObserveDefinitions(
        connector_id=connector_id, definitions=[*map(ToolDefinition.of, listed)]
    )
    changed, _ = await execute(
        log,
        lambda work: observe_definitions(command, work),
        metadata={"actor": "system"},
        at=datetime.now(UTC),
    )
    return changed
