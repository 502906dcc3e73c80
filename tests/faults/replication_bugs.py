"""Bugs that only show where PostgreSQL replicates; see known_bugs.py."""

import contextlib
from collections.abc import Iterator
from typing import Any
from uuid import UUID

from service.event_log import commit_unknown, durable, history, log, writer
from tests.faults.known_bugs import Bug, replace


def settles_by_the_row_alone() -> None:
    """Acknowledge a lost commit that the primary has, whatever the standbys have."""

    async def replicate(*_: Any) -> None:
        return None

    replace(commit_unknown, _replicate=replicate)


def ignores_cancelled_waits() -> None:
    """Acknowledge a commit whose wait for the standbys was cancelled."""

    @contextlib.contextmanager
    def without_warnings(_connection: Any) -> Iterator[None]:
        yield

    replace(writer, without_warnings=without_warnings)


def calls_it_done_before_it_is_replicated() -> None:
    """Answer that there is nothing left to do, though a fail-over can undo it."""

    async def reach(*_: Any) -> None:
        return None

    replace(durable.DurablePosition, reach=reach)


def passes_what_is_not_replicated() -> None:
    """Follow, and publish, to the end of the log."""

    def position(_self: durable.DurablePosition, _epoch: UUID) -> int:
        return 2**62

    replace(durable.DurablePosition, position=position)


def keeps_the_epoch() -> None:
    """Take any server for the one that it was."""

    async def recognize(connection: Any, _known: Any, _mark: Any) -> history.History:
        cursor = await connection.execute(
            "SELECT epoch, events.server() FROM events.head"
        )
        return history.History(*await cursor.fetchone())

    replace(log, recognize=recognize)


def changes_the_epoch_always() -> None:
    """Take each other server for one that has lost something."""

    async def recognize(connection: Any, known: Any, _mark: Any) -> history.History:
        return await history.recognize(connection, known, None)

    replace(log, recognize=recognize)


REPLICATION_BUGS = {
    each.__name__: Bug(kind, each)
    for kind, those in {
        "api": (
            settles_by_the_row_alone,
            ignores_cancelled_waits,
            calls_it_done_before_it_is_replicated,
            keeps_the_epoch,
            changes_the_epoch_always,
        ),
        "followers": (passes_what_is_not_replicated,),
    }.items()
    for each in those
}
