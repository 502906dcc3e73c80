"""How long a request waits, and for what; each is a setting."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from service.errors import RETRY_LATER, UnavailableError


@dataclass(frozen=True, slots=True, kw_only=True)
class Waits:
    """The longest waits of a request, in seconds.

    ``connection_s``: for one of this process's connections to the database.
    ``lock_s``: for a lock that another session of the database holds.
    ``statement_s``: for the end of a statement.
    ``commit_s``: for other commands, each time: those before it in the queue, those
    that change the same resource, and for standbys to have what they committed.
    ``position_s``: for the read tables to reach a position of the log.
    ``body_s``: for the end of a body that has begun.
    ``root_key_s``: for the program that holds the root keys.
    ``trace_store_s``: for a page with what a trace store has of it.
    """

    connection_s: float = 2.0
    lock_s: float = 2.0
    statement_s: float = 5.0
    commit_s: float = 5.0
    position_s: float = 2.0
    body_s: float = 30.0
    root_key_s: float = 2.0
    trace_store_s: float = 2.0

    @property
    def silence_s(self) -> float:
        """How long the database may send nothing.

        Twice what a statement may take: a server that exceeds it doesn't run, or can't
        be reached, and its kernel may still acknowledge what it is sent.
        """
        return 2 * self.statement_s


@asynccontextmanager
async def holding(
    lock: asyncio.Lock | asyncio.Semaphore, wait_s: float, others: str
) -> AsyncIterator[None]:
    """Hold a lock until the block ends; ``others`` says who else holds it.

    :raises UnavailableError: it isn't free in time
    """
    try:
        async with asyncio.timeout(wait_s):
            await lock.acquire()
    except TimeoutError:
        raise UnavailableError(
            f"{others} took more than {wait_s:g} s; nothing was changed; please retry",
            code="overloaded",
            headers=RETRY_LATER,
        ) from None
    try:
        yield
    finally:
        lock.release()
