"""The interface by which decisions find the aggregates that they rest on."""

from typing import Protocol, TypeVar
from uuid import UUID

from service.aggregate import LoggedAggregate

A = TypeVar("A", bound=LoggedAggregate)


class Finder(Protocol):
    """Finds aggregates: a unit of work, or the log as it was at a position."""

    async def find(self, kind: type[A], aggregate_id: UUID) -> A | None: ...
