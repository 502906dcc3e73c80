"""How much memory a process takes for what it has read, in bytes."""

from dataclasses import dataclass
from typing import Final, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheBounds:
    """``aggregates``: of the event log. ``tool_lists``: of agents, at the gateway."""

    aggregates: int
    tool_lists: int

    @classmethod
    def of(cls, total: int) -> Self:
        """Divide the bytes of the setting: lists are made of aggregates."""
        tool_lists = total // 4
        return cls(aggregates=total - tool_lists, tool_lists=tool_lists)


CACHE_BYTES: Final = 256 * 1024 * 1024
DEFAULT_CACHES: Final = CacheBounds.of(CACHE_BYTES)
