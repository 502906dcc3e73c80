"""The interface by which a preview of rules reads past tools and calls."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Protocol
from uuid import UUID

from aiohttp import web

from service.tool_rules.comparison import Pin, as_ruled
from service.tool_rules.decision import Stance

# Different tools and decisions, not calls.
RECORDED_MAX: Final = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCalls:
    """Calls of one tool by an agent that were decided alike."""

    connector_id: UUID
    tool: str
    decided: Stance
    calls: int
    last_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedTools:
    """The tools that a connector was observed to have, and what their definitions do.

    ``names`` is None for one that was never observed; then a stance stays as it is.
    """

    names: Collection[str] | None = None
    pin: Pin = as_ruled


class CallHistory(Protocol):
    """The tools that connectors list, and the calls that agents made."""

    async def tools(self, connector_id: UUID) -> PinnedTools:
        """Return the tools that a connector was observed to have."""

    async def calls(
        self, agent_id: UUID, connector_ids: Collection[UUID], since: datetime
    ) -> Sequence[RecordedCalls]:
        """Return an agent's calls of some connectors, the most frequent first.

        At most ``RECORDED_MAX`` and one more.
        """


class NoCallHistory:
    """That of a service without the gateway."""

    async def tools(self, _connector_id: UUID) -> PinnedTools:
        return PinnedTools()

    async def calls(
        self,
        _agent_id: UUID,
        _connector_ids: Collection[UUID],
        _since: datetime,
    ) -> Sequence[RecordedCalls]:
        return ()


CALL_HISTORY: web.AppKey[CallHistory] = web.AppKey("call_history")
