"""Circuit breaker: suspend requests to a failing service, then probe it."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Literal

FAILURES_MAX: Final = 3
REST_S: Final = 5.0
REST_MAX_S: Final = 60.0

State = Literal["closed", "open", "half-open"]


@dataclass(slots=True)
class CircuitBreaker:
    """Opens after consecutive failures; half-open, it allows one trial at a time.

    A trial that fails doubles the time until the next one.
    """

    clock: Callable[[], float] = time.monotonic
    _failures: int = 0
    _rest_s: float = REST_S
    _opened_at: float | None = None
    _tried_at: float | None = None

    @property
    def state(self) -> State:
        if self._opened_at is None:
            return "closed"
        is_rested = self.clock() >= self._opened_at + self._rest_s
        return "half-open" if is_rested else "open"

    @property
    def rest_left_s(self) -> float:
        """Return the seconds until a trial is allowed, if none is out."""
        if self._opened_at is None:
            return 0.0
        return max(0.0, self._opened_at + self._rest_s - self.clock())

    @property
    def is_blocked(self) -> bool:
        """Whether no request is allowed now, since it is open or a trial is out."""
        if self._tried_at is not None:
            # A trial without a reported outcome doesn't block the next one forever.
            return self.clock() < self._tried_at + REST_MAX_S
        return self.state == "open"

    def allows_request(self) -> bool:
        """Return whether to send a request; half-open, one caller alone may."""
        if self.is_blocked:
            return False
        if self._opened_at is not None:
            self._tried_at = self.clock()
        return True

    def succeeded(self) -> None:
        self._failures, self._rest_s = 0, REST_S
        self._opened_at = self._tried_at = None

    @property
    def trial(self) -> float | None:
        """Which trial is out: of the request that was allowed just now, or none."""
        return self._tried_at

    def undecided(self, trial: float | None) -> None:
        """Let another one try, if this trial ended before it showed anything."""
        if trial is not None and trial == self._tried_at:
            self._tried_at = None

    def rest(self, rest_s: float) -> None:
        """Open at once, for so long, at most ``REST_MAX_S``."""
        self._rest_s = min(rest_s, REST_MAX_S)
        self._opened_at, self._tried_at = self.clock(), None

    def failed(self) -> None:
        self._failures += 1
        if self._opened_at is not None:
            if self._tried_at is not None:
                # A server may have asked for no rest at all.
                self._rest_s = min(max(2 * self._rest_s, REST_S), REST_MAX_S)
                self._opened_at, self._tried_at = self.clock(), None
        elif self._failures >= FAILURES_MAX:
            self._opened_at, self._tried_at = self.clock(), None
