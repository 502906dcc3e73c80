"""An approval, as the state of an agent's approvals holds it."""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Final

from typing_extensions import TypedDict

# What was refused or withdrawn, or has expired, stays known for the agent to be told.
CLOSED_MAX: Final = 200


class ApprovalState(StrEnum):
    PENDING = "pending"
    APPROVED = "approved"
    REFUSED = "refused"
    WITHDRAWN = "withdrawn"
    EXPIRED = "expired"
    USED = "used"


OPEN: Final = frozenset({ApprovalState.PENDING, ApprovalState.APPROVED})


class ApprovalEntry(TypedDict):
    """A request that is open, or was refused or withdrawn, or expired a while ago.

    ``version`` is the aggregate's when the entry last changed: what If-Match names.
    """

    token_id: str
    user_id: str | None
    connector_id: str
    tool: str
    definition: str
    state: str
    requested_at: str
    expires_at: str
    version: int
    sealed_id: str | None
    sealed_for: str
    decided_by: str | None
    reason: str | None


def kept_entries(
    entries: Mapping[str, ApprovalEntry], at: str
) -> dict[str, ApprovalEntry]:
    """Return the entries without closed ones that are past, or too many."""

    def kept() -> Iterator[tuple[str, ApprovalEntry]]:
        closed = 0
        for each, entry in reversed([*entries.items()]):
            if entry["state"] not in OPEN:
                closed += 1
                is_past = entry["expires_at"] <= at
                # The agent is told of an expiry, however late it calls again.
                is_told = entry["state"] != ApprovalState.EXPIRED
                if closed > CLOSED_MAX or (is_past and is_told):
                    continue
            yield each, entry

    return dict(reversed([*kept()]))
