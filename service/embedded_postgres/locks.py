"""The two locks of the embedded PostgreSQL's folder."""

import fcntl
import os
from contextlib import ExitStack
from pathlib import Path

from service.embedded_postgres.errors import DataFolderInUseError
from service.embedded_postgres.processes import wait_until

EARLIER_SERVER_TIMEOUT_S = 30.0


def lock_for_service(home: Path, cleanup: ExitStack) -> None:
    """
    Lock the folder for this process until ``cleanup`` is closed.

    :raises DataFolderInUseError: if another service has it
    """
    lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    cleanup.callback(os.close, lock)
    if not _has_locked(lock):
        holder = os.read(lock, 20).decode() or "unknown"
        raise DataFolderInUseError(f"{home.parent} is in use by process {holder}")
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())


def lock_for_server(home: Path, cleanup: ExitStack) -> int:
    """
    Return a lock that PostgreSQL's processes inherit: it is free once none is left.

    Waits for a PostgreSQL whose service was killed, because that is shutting down.

    :raises DataFolderInUseError: if it doesn't end in time
    """
    lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    cleanup.callback(os.close, lock)
    if not wait_until(lambda: _has_locked(lock), timeout_s=EARLIER_SERVER_TIMEOUT_S):
        raise DataFolderInUseError(
            f"{home.parent} is in use by an earlier PostgreSQL that is shutting down:"
            " try again when it has ended"
        )
    return lock


def _has_locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
