"""What a client reads when the database fails: which wait has ended."""

import psycopg

from service.connection_pool import PoolBusyError, SilentServerError
from service.errors import RETRY_LATER, UnavailableError


def unavailable(error: Exception) -> UnavailableError:
    """Return the refusal for a failure of the database that passes by itself."""
    code = UnavailableError.code
    match error:
        case PoolBusyError():
            code = "database_busy"
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
        case SilentServerError():
            message = "the database has stopped answering"
        case _:
            message = "the database can't be reached"
    return UnavailableError(message, code=code, headers=RETRY_LATER)
