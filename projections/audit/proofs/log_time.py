"""The time of the log, which must not be ahead of the clock.

An event is recorded at the clock's time, or just after the event before it, whichever
is later: after a clock was ahead for a while, so are all events until that time.
"""

import logging
from typing import Final

from prometheus_client import Gauge

from service.database import Db

# Clocks of machines differ; by more than this, one of them is wrong.
AHEAD_MAX_S: Final = 60.0
AHEAD = """
    SELECT greatest(extract(epoch FROM recorded_at - clock_timestamp()), 0)::float8
      FROM events.head
"""
SECONDS = Gauge(
    "agent_runtime_log_ahead_seconds",
    "How far the time of the log's last event is ahead of the database's clock; more "
    "than a minute is logged.",
)

logger = logging.getLogger(__name__)


async def seconds_ahead(db: Db) -> float:
    """Return how far the last event's time is ahead of the database's clock."""
    row = await (await db.execute(AHEAD)).fetchone()
    return row[0] if row else 0.0


def said(ahead_s: float) -> str | None:
    """Say that the log is ahead, if it is; None for what clocks may differ by."""
    if ahead_s <= AHEAD_MAX_S:
        return None
    return (
        f"the log's last event is {ahead_s:.0f} s ahead of the database's clock: a "
        "clock was wrong, or events.head was changed; events get its time until then"
    )


class LogTime:
    """Measures, and warns once each time that the log gets ahead."""

    def __init__(self) -> None:
        self._is_ahead = False

    @staticmethod
    def forget() -> None:
        """Report nothing: another process measures."""
        SECONDS.set(0)

    async def measure(self, db: Db) -> None:
        ahead_s = await seconds_ahead(db)
        SECONDS.set(ahead_s)
        warning = said(ahead_s)
        if warning is not None and not self._is_ahead:
            logger.warning("%s", warning)
        self._is_ahead = warning is not None
