"""The approval of a call as the API shows it."""

from datetime import datetime
from typing import Any
from uuid import UUID

from typing_extensions import TypedDict

from service.gateway.approvals.entries import ApprovalEntry, ApprovalState


class ApprovalResource(TypedDict):
    """What a person is asked: one call, bound to its arguments and definition.

    ``version`` is what If-Match names. ``definition`` is the digest of the tool's
    definition.
    """

    id: UUID
    agent_id: UUID
    token_id: UUID
    user_id: UUID | None
    connector_id: UUID
    tool: str
    definition: str
    state: ApprovalState
    requested_at: datetime
    expires_at: datetime
    decided_by: UUID | None
    reason: str | None
    version: int


class ApprovalWithArguments(ApprovalResource):
    """With the call's arguments; null if they were destroyed, or their user's key."""

    arguments: dict[str, Any] | None


def approval_resource(
    agent_id: UUID, approval_id: UUID, entry: ApprovalEntry, state: ApprovalState
) -> ApprovalResource:
    return {
        "id": approval_id,
        "agent_id": agent_id,
        "token_id": UUID(entry["token_id"]),
        "user_id": UUID(entry["user_id"]) if entry["user_id"] else None,
        "connector_id": UUID(entry["connector_id"]),
        "tool": entry["tool"],
        "definition": entry["definition"],
        "state": state,
        "requested_at": datetime.fromisoformat(entry["requested_at"]),
        "expires_at": datetime.fromisoformat(entry["expires_at"]),
        "decided_by": UUID(entry["decided_by"]) if entry["decided_by"] else None,
        "reason": entry["reason"],
        "version": entry["version"],
    }
