"""Locks for the aggregates that commands of this process compete for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID

from service.waits import holding


@dataclass(slots=True)
class _Lock:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class AggregateLocks:
    """One fair lock for each aggregate, in this process only.

    They save commands that would lose the race; correctness doesn't depend on them.
    """

    def __init__(self, wait_s: float) -> None:
        self._wait_s = wait_s
        self._locks: dict[UUID, _Lock] = {}

    def is_contended(self, aggregate_id: UUID) -> bool:
        """Say whether a command holds an aggregate's lock, or waits for it."""
        return bool(self._locks) and aggregate_id in self._locks

    @contextlib.asynccontextmanager
    async def lock(self, aggregate_id: UUID) -> AsyncIterator[None]:
        """Hold an aggregate's lock; first come, first served.

        :raises UnavailableError: the commands before take too long
        """
        entry = self._locks.setdefault(aggregate_id, _Lock())
        entry.users += 1
        try:
            async with holding(entry.lock, self._wait_s, "the changes before this one"):
                yield
        finally:
            entry.users -= 1
            if not entry.users:
                del self._locks[aggregate_id]
