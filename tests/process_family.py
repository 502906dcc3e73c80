"""A process with all that it has started."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

from service.embedded_postgres import EmbeddedPostgres


def kill(server: EmbeddedPostgres) -> None:
    """End the server and all of its processes without a chance to say goodbye."""
    family = [server.pid, *children(server.pid)]
    for pid in family:
        _send(pid, signal.SIGSTOP)
    for pid in [*family, *children(server.pid)]:
        _send(pid, signal.SIGKILL)
    server.stop()


def children(parent: int) -> Iterator[int]:
    """Yield the ids of its children, and of theirs."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[1]) == parent:
            yield int(stat.parent.name)
            yield from children(int(stat.parent.name))


def _send(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
