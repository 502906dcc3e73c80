"""Observe an upstream's tools without one."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from service.connectors.aggregate import Connector
from service.event_log.execute import execute
from service.event_log.protocol import CommandLog
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.definition import ToolDefinition
from service.gateway.definitions.commands import (
    ObserveDefinitions,
    observe_definitions,
)
from service.gateway.gate import ObservedTools


async def observe(
    log: CommandLog, connector_id: UUID, listed: Sequence[Mapping[str, Any]]
) -> bool:
    """Record tools as an upstream lists them; return whether anything differs."""

    async def observed(work: UnitOfWork) -> ObservedTools | None:
        connector = await work.find(Connector, connector_id)
        assert connector is not None
        command = ObserveDefinitions(
            connector_id=connector_id,
            url=connector.url,
            definitions=[*map(ToolDefinition.of, listed)],
        )
        return await observe_definitions(command, work)

    seen, _ = await execute(
        log,
        observed,
        metadata={"actor": "system"},
        at=datetime.now(UTC),
    )
    assert seen is not None
    return seen.is_changed
