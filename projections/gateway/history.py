"""Tools and calls of the past, for previews of rules."""

from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import partial
from uuid import UUID

from projections.gateway.queries import recorded_calls
from service.database import Pool
from service.event_log.log import EventLog
from service.tool_definitions.aggregate import Standing, ToolDefinitions
from service.tool_definitions.pinning import decide_pinned
from service.tool_rules.call_history import RECORDED_MAX, PinnedTools, RecordedCalls
from service.tool_rules.decision import Stance


class RecordedHistory:
    """Tools from the log, calls from the read table; implements CallHistory."""

    def __init__(self, log: EventLog, pool: Pool) -> None:
        self._log = log
        self._pool = pool

    async def tools(self, connector_id: UUID) -> PinnedTools:
        known = await self._log.load(ToolDefinitions.id_for(connector_id))
        if not isinstance(known, ToolDefinitions):
            return PinnedTools()
        standings = {tool: known.standing(tool) for tool in known.observed}
        return PinnedTools(names=[*standings], pin=partial(_pinned, standings))

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


def _pinned(
    standings: Mapping[str, Standing | None],
    stance: Stance,
    matching: Mapping[str, Stance],
    tool: str,
) -> Stance:
    # One that isn't listed is denied, whether it is gone or was never there.
    standing = standings.get(tool)
    pinned, _ = decide_pinned(stance, matching, tool, standing, is_observed=True)
    return pinned
