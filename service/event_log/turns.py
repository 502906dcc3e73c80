"""Queues of commands that compete for one aggregate."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from uuid import UUID


@dataclass(slots=True)
class Turn:
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0


class Turns:
    """First come, first served, in this process; other processes are not seen."""

    def __init__(self) -> None:
        self._turns: dict[UUID, Turn] = {}

    def is_wanted(self, aggregate_id: UUID) -> bool:
        return bool(self._turns) and aggregate_id in self._turns

    @contextlib.asynccontextmanager
    async def turn(self, aggregate_id: UUID) -> AsyncIterator[None]:
        """Wait until everyone who came before has left the block."""
        turn = self._turns.setdefault(aggregate_id, Turn())
        turn.users += 1
        try:
            async with turn.lock:
                yield
        finally:
            turn.users -= 1
            if not turn.users:
                del self._turns[aggregate_id]
