"""The processes of a PostgreSQL server."""

import os
import signal

import psutil

from service.embedded_postgres.server import EmbeddedPostgres


def kill(server: EmbeddedPostgres) -> None:
    """End the server and all of its processes with SIGKILL, as a power cut would."""
    family = [server.pid, *children(server.pid)]
    for pid in family:
        _send(pid, signal.SIGSTOP)
    for pid in [*family, *children(server.pid)]:
        _send(pid, signal.SIGKILL)
    server.stop()


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
