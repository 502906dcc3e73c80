"""Given, when, then: one command handler over an event log."""

from collections.abc import Awaitable, Callable
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any, Self, TypeVar

from service.aggregate import LoggedAggregate
from service.errors import ServiceError
from service.event_log.execute import execute
from service.event_log.mapper import RecordedEvent
from service.event_log.unit_of_work import UnitOfWork
from service.principal import Principal, Role
from service.users.aggregate import User
from tests.support.event_log.in_memory import AnyLog
from tests.support.reading import read_events

Command = TypeVar("Command")
Result = TypeVar("Result")
EVENTS_MAX = 1000


def principal(name: str, *roles: Role) -> Principal:
    """Someone who calls; their User need not be in the log."""
    return Principal(user_id=User.create_id(name), roles=frozenset(roles))


class Scenario:
    """What was there, what was asked, and what the log holds of it.

    Every command runs at ``at``. ``result`` is what the last handler returned,
    ``error`` its refusal.
    """

    at = datetime(2026, 3, 1, 12, tzinfo=UTC)

    def __init__(self, log: AnyLog) -> None:
        self._log = log
        self._before = 0
        self.result: Any = None
        self.error: ServiceError | None = None

    async def given(self, *aggregates: LoggedAggregate) -> Self:
        """Put the pending events of aggregates into the log, also a second time."""

        async def save(work: UnitOfWork) -> None:
            for aggregate in aggregates:
                known = aggregate.version - len(aggregate.pending_events)
                work.relied_on({aggregate.id: known})
                # The log keeps what it is given in its cache; the test's own
                # aggregate must not be that one.
                work.save(deepcopy(aggregate))

        await execute(self._log, save, metadata={"actor": "given"}, at=self.at)
        for aggregate in aggregates:
            aggregate.take_events(at=self.at)
        return self

    async def when(
        self,
        handler: Callable[[Command, UnitOfWork], Awaitable[Result]],
        command: Command,
        *,
        by: Principal,
        if_match: int | None = None,
    ) -> Self:
        """Run a handler as a caller; a refusal is kept in ``error``."""
        self._before = (await self._log.head()).position
        self.result = self.error = None
        try:
            self.result, _ = await execute(
                self._log,
                lambda work: handler(command, work),
                metadata={"actor": str(by.user_id)},
                at=self.at,
                principal=by,
                if_match=if_match,
            )
        except ServiceError as error:
            self.error = error
        return self

    async def then(self, *expected: tuple[str, Principal]) -> None:
        """Expect exactly these (topic, actor) of the last command, in order."""
        assert self.error is None, f"refused: {self.error!r}"
        recorded = [
            (each.topic, each.metadata["actor"]) for each in await self.recorded()
        ]
        assert recorded == [(topic, str(actor.user_id)) for topic, actor in expected]

    async def then_refused(self, kind: type[ServiceError]) -> None:
        """Expect a refusal of exactly this kind, and that nothing was recorded."""
        assert type(self.error) is kind, f"not {kind.__name__}: {self.error!r}"
        assert await self.recorded() == []

    async def recorded(self) -> list[RecordedEvent]:
        """Return the last command's events, to look at their fields."""
        head = (await self._log.head()).position
        return await read_events(
            self._log, after=self._before, upto=head, limit=EVENTS_MAX
        )
