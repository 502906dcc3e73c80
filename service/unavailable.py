"""What a client reads when the database fails, and how an answer under way goes on."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import psycopg
from psycopg_pool import PoolClosed

from service.connection_pool import PoolBusyError, SilentServerError
from service.errors import RETRY_LATER, UnavailableError

DATABASE_BUSY: Final = "database_busy"
RETRY_S = 1.0
UNAVAILABLE_MAX_S = 30.0

Read = TypeVar("Read")

logger = logging.getLogger(__name__)


def unavailable(error: Exception) -> UnavailableError:
    """Return the refusal for a failure of the database that passes by itself."""
    code = UnavailableError.code
    match error:
        case PoolBusyError():
            code = DATABASE_BUSY
            message = "all connections to the database are in use; please retry"
        case psycopg.errors.LockNotAvailable():
            code = "database_locked"
            message = (
                "another session of the database has held a lock for too long; please "
                "retry"
            )
        case psycopg.errors.QueryCanceled():
            code = "database_slow"
            message = "the database took too long; please retry, or ask for less"
        case psycopg.errors.DiskFull():
            code = "database_full"
            message = (
                "the database's disk is full; please retry when its operator has made "
                "room"
            )
        case SilentServerError():
            message = "the database has stopped answering"
        case _:
            message = "the database can't be reached"
    return UnavailableError(message, code=code, headers=RETRY_LATER)


async def until_answered(
    read: Callable[[], Awaitable[Read]],
    meanwhile: Callable[[], Awaitable[None]] | None = None,
) -> Read:
    """Return the result of a read, repeated while the database is unavailable.

    For answers that have begun: their clients can't be told to retry. A busy database
    is asked for as long as it is busy, any other for ``UNAVAILABLE_MAX_S``.

    ``meanwhile`` runs before each further attempt; what it raises ends the wait.
    """
    failing_since: float | None = None
    level = logging.WARNING
    while True:
        try:
            return await read()
        except PoolClosed:
            raise
        except (psycopg.OperationalError, UnavailableError) as error:
            refusal = (
                error if isinstance(error, UnavailableError) else unavailable(error)
            )
            now = time.monotonic()
            if refusal.code == DATABASE_BUSY:
                failing_since = None
            elif failing_since is None:
                failing_since = now
            elif now - failing_since >= UNAVAILABLE_MAX_S:
                raise
            logger.log(level, "an answer under way waits: %s", refusal.message)
            level = logging.DEBUG
        await asyncio.sleep(RETRY_S)
        if meanwhile is not None:
            await meanwhile()
