"""The processes of a PostgreSQL server."""

import os
import signal

import psutil

from service.embedded_postgres.server import EmbeddedPostgres
from tests.support.waiting import until_blocking


def kill(server: EmbeddedPostgres) -> None:
    """End the server and all of its processes, as a power cut would."""
    kill_tree(server.pid)
    server.stop()


def kill_tree(root: int) -> None:
    """End a process and all below it with SIGKILL, and wait until they have ended.

    A server can't start again while one of its processes still has the shared memory.
    """
    for pid in (root, *children(root)):
        _send(pid, signal.SIGSTOP)
    # With those that were started before their parent stopped.
    family = [root, *children(root)]
    for pid in family:
        _send(pid, signal.SIGKILL)
    until_blocking(lambda: all(map(has_ended, family)))


def children(parent: int) -> list[int]:
    """Return the ids of its children, and of theirs."""
    try:
        found = psutil.Process(parent).children(recursive=True)
    except psutil.NoSuchProcess:
        return []
    return [child.pid for child in found]


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return


def has_ended(pid: int) -> bool:
    """Tell whether it has ended, also if nobody has asked for its exit status yet."""
    try:
        return bool(psutil.Process(pid).status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
