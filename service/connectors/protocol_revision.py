"""The revisions of MCP that a connector can be set to."""

from typing import Final, Literal, get_args

ProtocolRevision = Literal[
    "2026-07-28", "2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"
]
PROTOCOL_REVISIONS: Final[tuple[ProtocolRevision, ...]] = get_args(ProtocolRevision)


def known_revision(revision: str | None) -> ProtocolRevision | None:
    """Return a recorded revision; None for one that isn't spoken any more."""
    if revision is None:
        return None
    return next((each for each in PROTOCOL_REVISIONS if each == revision), None)
