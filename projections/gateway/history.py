"""Tools and calls of the past, for previews of rules."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

from projections.gateway.queries import recorded_calls
from service.database import Pool
from service.event_log.log import EventLog
from service.gateway.definitions.aggregate import ToolDefinitions
from service.tool_rules.call_history import RECORDED_MAX, RecordedCalls


class RecordedHistory:
    """Tools from the log, calls from the read table; implements CallHistory."""

    def __init__(self, log: EventLog, pool: Pool) -> None:
        self._log = log
        self._pool = pool

    async def tools(self, connector_id: UUID) -> Collection[str]:
        known = await self._log.load(ToolDefinitions.id_for(connector_id))
        return known.observed if isinstance(known, ToolDefinitions) else ()

    async def calls(
        self, agent_id: UUID, connector_ids: Collection[UUID], since: datetime
    ) -> Sequence[RecordedCalls]:
        async with self._pool.connection() as db:
            return await recorded_calls(
                db,
                agent_id=agent_id,
                connector_ids=connector_ids,
                since=since,
                limit=RECORDED_MAX + 1,
            )
