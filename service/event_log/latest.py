"""Aggregates as this process knows them, for what is decided again before it counts."""

from typing import TypeVar
from uuid import UUID

from service.aggregate import LoggedAggregate
from service.event_log.protocol import CommandLog

A = TypeVar("A", bound=LoggedAggregate)


class LatestFacts:
    """Finds what this process knows of the log, without a claim that it is current.

    Unlike a unit of work's, its aggregates are no copies, and are not to be changed.
    """

    def __init__(self, log: CommandLog) -> None:
        self._log = log

    async def find(self, kind: type[A], aggregate_id: UUID) -> A | None:
        found = await self._log.load(aggregate_id)
        return found if isinstance(found, kind) else None
