"""Who calls a gateway: an agent, by one of its tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from service.identifiers import id_text
from service.spans import current_traceparent


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The agent that a token identifies, and the user for whom it calls, if any."""

    agent_id: UUID
    token_id: UUID
    user_id: UUID | None

    def metadata(self, request_id: str, traceparent: str | None) -> Mapping[str, str]:
        """Return what the log keeps beside an event of a call."""
        metadata = {
            "actor": id_text(self.user_id or self.agent_id),
            "token": id_text(self.token_id),
            "request_id": request_id,
        }
        traceparent = traceparent or current_traceparent()
        if traceparent is not None:
            metadata["traceparent"] = traceparent
        return metadata
