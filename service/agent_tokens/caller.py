"""Who calls a gateway: an agent, by one of its tokens."""

from dataclasses import dataclass
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The agent that a token identifies, and the user for whom it calls, if any."""

    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
