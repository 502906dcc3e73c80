"""Token-bucket rate limiting."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from cachetools import LRUCache

from service.errors import TooManyRequestsError

KEYS_MAX = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """A bucket holds ``burst`` tokens and regains one every ``interval_s`` seconds."""

    burst: int
    interval_s: float


class Buckets:
    """A token bucket for each key, at most ``keys_max``; the least recent go first.

    Each process counts for itself.
    """

    def __init__(
        self,
        limit: RateLimit,
        *,
        keys_max: int = KEYS_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.limit = limit
        self._clock = clock
        self._full_at: LRUCache[object, float] = LRUCache(keys_max)

    def take(self, key: object) -> float:
        """Take a token and return 0, or return the seconds until there is one."""
        now = self._clock()
        # A bucket is stored as the time at which it will be full again.
        full_at = max(self._full_at.get(key, now), now) + self.limit.interval_s
        wait_s = full_at - now - self.limit.burst * self.limit.interval_s
        # Tolerates rounding errors of floating point.
        if wait_s > self.limit.interval_s / 1e6:
            return wait_s
        self._full_at[key] = full_at
        return 0.0

    def __len__(self) -> int:
        return len(self._full_at)


def too_many(message: str, code: str, wait_s: float) -> TooManyRequestsError:
    return TooManyRequestsError(
        message, code=code, headers={"Retry-After": str(math.ceil(wait_s))}
    )
