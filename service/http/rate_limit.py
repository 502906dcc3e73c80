"""Token-bucket rate limiting."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from service.errors import TooManyRequestsError

KEYS_MAX = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """A bucket holds ``burst`` tokens and regains one every ``interval_s`` seconds."""

    burst: int
    interval_s: float


@dataclass(slots=True)
class Buckets:
    """A token bucket for each key, at most ``keys_max``; the least recent go first.

    Each process counts for itself.
    """

    limit: RateLimit
    keys_max: int = KEYS_MAX
    clock: Callable[[], float] = time.monotonic
    _full_at: OrderedDict[object, float] = field(default_factory=OrderedDict)

    def take(self, key: object) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        now = self.clock()
        # A bucket is stored as the time at which it will be full again.
        full_at = max(self._full_at.get(key, now), now) + self.limit.interval_s
        wait_s = full_at - now - self.limit.burst * self.limit.interval_s
        # Tolerates rounding errors of floating point.
        if wait_s > self.limit.interval_s / 1e6:
            return wait_s
        self._full_at[key] = full_at
        self._full_at.move_to_end(key)
        if len(self._full_at) > self.keys_max:
            self._full_at.popitem(last=False)
        return 0.0

    def __len__(self) -> int:
        return len(self._full_at)


def too_many(message: str, code: str, wait_s: float) -> TooManyRequestsError:
    return TooManyRequestsError(
        message, code=code, headers={"Retry-After": str(math.ceil(wait_s))}
    )
