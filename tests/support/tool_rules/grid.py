"""Operation 1's authorization in full: who, on which connector, in which state.

The cells are statuses of a batch with one rule.
"""

from typing import Final
from uuid import UUID

from service.connectors.aggregate import Connector
from tests.support.scenario import Scenario

STATES: Final = (
    "granted",
    "never",
    "offered_by_owner",
    "offered_by_agent",
    "revoked",
    "public",
    "retired",
    "unknown",
)
CALLERS: Final = {
    "superuser": ("superuser",),
    "manager": (),
    "plain": (),
    "auditor": ("auditor",),
    "runtime": ("runtime",),
}

# (caller, owns the connector): a status for each of STATES.
GRID: Final = {
    ("superuser", True): (200, 200, 200, 200, 200, 200, 422, 422),
    ("superuser", False): (200, 200, 200, 200, 200, 200, 422, 422),
    ("manager", True): (200, 200, 200, 200, 200, 200, 422, 422),
    ("manager", False): (200, 200, 200, 200, 200, 200, 422, 422),
    ("plain", True): (200, 403, 403, 403, 403, 403, 403, 403),
    ("plain", False): (403, 403, 403, 403, 403, 403, 403, 403),
    ("auditor", True): (200, 403, 403, 403, 403, 403, 403, 403),
    ("auditor", False): (403, 403, 403, 403, 403, 403, 403, 403),
    ("runtime", True): (200, 403, 403, 403, 403, 403, 403, 403),
    ("runtime", False): (403, 403, 403, 403, 403, 403, 403, 403),
}
EMPTY: Final = {
    "superuser": 200,
    "manager": 200,
    "plain": 403,
    "auditor": 403,
    "runtime": 403,
}
UNKNOWN_AGENT: Final = {
    "superuser": 404,
    "manager": 403,
    "plain": 403,
    "auditor": 403,
    "runtime": 403,
}

CELLS: Final = [
    (caller, owns, state, status)
    for (caller, owns), row in GRID.items()
    for state, status in zip(STATES, row, strict=True)
]


def connector_in(state: str, owner_id: UUID, agent_id: UUID) -> Connector | None:
    if state == "unknown":
        return None
    connector = Connector(
        owner_id=str(owner_id), name="Tracker", url="https://t.example", description=""
    )
    by_owner = state in ("granted", "revoked", "retired", "offered_by_owner")
    by_agent = state in ("granted", "revoked", "retired", "offered_by_agent")
    if by_owner or by_agent:
        connector.consent_to_grant(agent_id, by_connector=by_owner, by_agent=by_agent)
    match state:
        case "revoked":
            connector.revoke_grant(agent_id)
        case "retired":
            connector.retire()
        case "public":
            connector.make_public(by=owner_id, at=Scenario.at)
    return connector
