"""Targets that are left alone: broken, limited, or out of credit."""

from dataclasses import dataclass, field
from typing import Final

from cachetools import LRUCache

from service.circuit_breaker import REST_S, CircuitBreaker
from service.model_gateway.routing.plan import PlannedTarget

TARGETS_MAX: Final = 4096


@dataclass(slots=True)
class Trial:
    """A call to a target; how it ends says whether others follow."""

    breaker: CircuitBreaker
    number: float | None = field(init=False)

    def __post_init__(self) -> None:
        self.number = self.breaker.trial

    def has_begun(self) -> None:
        """Say that the target answers: a trial is over, however long the answer is."""
        if self.number is not None:
            self.succeeded()
            self.number = None

    def succeeded(self) -> None:
        # What began before it was suspended says nothing of it.
        is_trial = self.number is not None and self.number == self.breaker.trial
        if is_trial or self.breaker.state == "closed":
            self.breaker.succeeded()

    def failed(self) -> None:
        # Likewise: the trial that is out now is another one.
        if self.number == self.breaker.trial:
            self.breaker.failed()

    def suspend(self, rest_s: float | None) -> None:
        """Have the target left alone at once: it has said so itself."""
        self.breaker.rest(REST_S if rest_s is None else rest_s)

    def undecided(self) -> None:
        self.breaker.undecided(self.number)


class Suspensions:
    """Says which targets may be tried now; one that was changed may be."""

    def __init__(self) -> None:
        self._breakers: LRUCache[object, CircuitBreaker] = LRUCache(TARGETS_MAX)

    def trial(self, target: PlannedTarget) -> Trial | None:
        """Return a trial of a target; None while it is left alone."""
        breaker = self._breaker(target)
        return Trial(breaker) if breaker.allows_request() else None

    def rest_left_s(self, target: PlannedTarget) -> float:
        """Return the seconds until a target may be tried."""
        return self._breaker(target).rest_left_s

    def _breaker(self, target: PlannedTarget) -> CircuitBreaker:
        key = (target.key, target.connection.version)
        breaker = self._breakers.get(key)
        if breaker is None:
            breaker = self._breakers[key] = CircuitBreaker()
        return breaker
