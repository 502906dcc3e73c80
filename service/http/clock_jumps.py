"""Tell when this machine's clock was set, which moves whatever expires.

Timers of the service use the monotonic clock, which nobody can set. It stands still
while a machine is suspended: waking up is a jump, too.
"""

import logging
import time
from collections.abc import Callable
from typing import Final

from prometheus_client import Counter

# Time synchronization corrects less than this slowly, without a jump.
JUMP_MIN_S: Final = 5.0

JUMPS = Counter(
    "agent_runtime_clock_jumps",
    "Times that the clock of this process's machine was set by more than 5 s, or the "
    "machine was suspended; each is logged.",
)

logger = logging.getLogger(__name__)


class ClockJumps:
    """Compares how far the clock and the monotonic one went since it looked last."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._difference_s = clock() - time.monotonic()

    def look(self) -> None:
        before = self._difference_s
        self._difference_s = self._clock() - time.monotonic()
        jump_s = self._difference_s - before
        if abs(jump_s) > JUMP_MIN_S:
            JUMPS.inc()
            logger.warning(
                "the clock of this machine jumped by %+.0f s: it was set, or the "
                "machine was suspended; what has expired is decided by the new time",
                jump_s,
            )
