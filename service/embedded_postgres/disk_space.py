"""How much room the disk of the embedded PostgreSQL has."""

import math
import os
from pathlib import Path
from typing import Final

from prometheus_client import Gauge

# A series appears only in the process that runs a PostgreSQL: elsewhere the disk of the
# data folder isn't the database's.
LABEL: Final = "postgres"

FREE: Final = Gauge(
    "agent_runtime_disk_free_bytes",
    "Bytes that the embedded PostgreSQL can still write to the disk of its tables. "
    "Only in the process that runs it.",
    ["disk"],
)
SIZE: Final = Gauge(
    "agent_runtime_disk_size_bytes",
    "Bytes of the disk of the embedded PostgreSQL's tables. Only in the process that "
    "runs it.",
    ["disk"],
)


def report_disk_space(folder: Path) -> None:
    """Let metrics say from now on, when they are collected, how full its disk is."""
    FREE.labels(LABEL).set_function(lambda: _space(folder)[0])
    SIZE.labels(LABEL).set_function(lambda: _space(folder)[1])


def _space(folder: Path) -> tuple[float, float]:
    """Return free bytes, without those that are root's, and all bytes."""
    try:
        found = os.statvfs(folder)
    except OSError:
        # The other metrics are shown all the same.
        return math.nan, math.nan
    return found.f_bavail * found.f_frsize, found.f_blocks * found.f_frsize
