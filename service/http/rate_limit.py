"""Let pass so many at once, and then one every so often."""

import math
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field

from service.errors import TooManyRequestsError

KEYS_MAX = 10_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """``burst`` at once; each of them comes back after ``interval_s``."""

    burst: int
    interval_s: float


@dataclass(slots=True)
class Buckets:
    """What each key has left; the longest untouched are forgotten first.

    Of this process only: several processes each let as much pass.
    """

    limit: RateLimit
    keys_max: int = KEYS_MAX
    clock: Callable[[], float] = time.monotonic
    _full_at: OrderedDict[object, float] = field(default_factory=OrderedDict)

    def take(self, key: object) -> float:
        """Take one and return 0, or return the seconds until there is one again."""
        now = self.clock()
        # A bucket is the time at which it will be full again.
        full_at = max(self._full_at.get(key, now), now) + self.limit.interval_s
        wait_s = full_at - now - self.limit.burst * self.limit.interval_s
        # The sums of floating point may miss a round number by a little.
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
