"""The base of all projectors: events into read tables."""

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, ClassVar, Protocol

from eventsourcing.utils import get_topic

from service.database import Db
from service.event_log import reader
from service.event_log.mapper import EventMapper


class Positioned(Protocol):
    """An item of the log, by which a follower can name what it can't apply."""

    @property
    def position(self) -> int: ...

    @property
    def topic(self) -> str: ...


class Projector(ABC):
    """Folds events of some types into tables of its own.

    The tables are described by ``table.sql`` beside the subclass, without a schema:
    the live ones stand in schema ``read``, a rebuild fills a schema of its own.
    Indexes that :meth:`project` doesn't need can stand in ``indexes.sql``: a rebuild
    makes them when the tables are full, which costs much less.
    Any change of its tables, indexes or event types makes the next start rebuild it;
    a subclass that computes other rows for the same tables increments ``version``.
    A replay of the log fills its tables again unless ``replayed`` is False.
    """

    name: ClassVar[str]
    events: tuple[type[Any], ...]
    version: ClassVar[int] = 1
    replayed: ClassVar[bool] = True

    @cached_property
    def topics(self) -> list[str]:
        return [get_topic(event) for event in self.events]

    @cached_property
    def table_sql(self) -> str:
        return self._beside("table.sql").read_text(encoding="utf-8")

    @cached_property
    def indexes_sql(self) -> str:
        file = self._beside("indexes.sql")
        return file.read_text(encoding="utf-8") if file.is_file() else ""

    def _beside(self, name: str) -> Traversable:
        return files(type(self).__module__.rpartition(".")[0]).joinpath(name)

    @property
    def definition(self) -> str:
        text = (
            f"{self.version}\n{sorted(self.topics)}\n{self.table_sql}{self.indexes_sql}"
        )
        return hashlib.sha256(text.encode()).hexdigest()

    async def read(
        self,
        db: Db,
        mapper: EventMapper,
        *,
        after: int,
        upto: int,
        limit: int,
    ) -> Sequence[Positioned]:
        """Return what :meth:`project` takes of ``after < p <= upto``, in order.

        Decoded events of the projector's types; a projector of the log itself,
        rather than of what it means, reads its rows.
        """
        return await reader.events(
            db, mapper, after=after, upto=upto, limit=limit, topics=self.topics
        )

    @abstractmethod
    async def project(self, db: Db, events: Sequence[Any]) -> None:
        """Apply a batch of what :meth:`read` returns, with few set-based statements.

        Runs inside the transaction that also saves the position. Any exception but
        a lost connection stops the follower before the event that caused it.
        """
