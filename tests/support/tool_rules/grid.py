"""Operation 1's authorization in full: who, on which connector, in which state.

The cells are statuses of a batch with one rule.
"""

from typing import Final

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
