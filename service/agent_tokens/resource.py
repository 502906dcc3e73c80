"""The token of an agent as the API shows it."""

from datetime import datetime
from uuid import UUID

from typing_extensions import TypedDict

from service.agent_tokens.aggregate import AgentToken
from service.http.envelope import SecretText


class AgentTokenResource(TypedDict):
    """A token that was not revoked; ``user_id`` is for whom the agent calls with it."""

    id: UUID
    agent_id: UUID
    user_id: UUID | None
    issued_by: UUID
    label: str
    created_at: datetime
    expires_at: datetime | None


class IssuedAgentToken(AgentTokenResource):
    """A new token; the service has only its hash."""

    token: SecretText


def agent_token_resource(token: AgentToken, agent_id: UUID) -> AgentTokenResource:
    return {
        "id": token.token_id,
        "agent_id": agent_id,
        "user_id": token.user_id,
        "issued_by": token.issued_by,
        "label": token.label,
        "created_at": token.issued_at,
        "expires_at": token.expires_at,
    }
