"""When a store is asked, and when it is left alone."""

from dataclasses import dataclass

from service.circuit_breaker import (
    FAILURES_MAX,
    REST_MAX_S,
    REST_S,
    CircuitBreaker,
)


@dataclass
class Clock:
    now: float = 100.0

    def __call__(self) -> float:
        return self.now


def opened(clock: Clock) -> CircuitBreaker:
    breaker = CircuitBreaker(clock)
    for _ in range(FAILURES_MAX):
        assert breaker.allows_request()
        breaker.failed()
    return breaker


def test_it_opens_after_failures_in_a_row() -> None:
    breaker = opened(Clock())

    assert breaker.state == "open"
    assert not breaker.allows_request()


def test_a_success_in_between_counts() -> None:
    breaker = CircuitBreaker(Clock())
    for _ in range(FAILURES_MAX * 2):
        breaker.failed()
        breaker.succeeded()

    assert breaker.state == "closed"


def test_after_a_rest_one_may_try() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += REST_S

    assert breaker.state == "half-open"
    assert [breaker.allows_request() for _ in range(3)] == [True, False, False]
    breaker.succeeded()
    assert breaker.state == "closed"


def test_a_trial_in_vain_doubles_the_rest_up_to_a_bound() -> None:
    clock = Clock()
    breaker = opened(clock)
    rests = []
    rest = REST_S
    for _ in range(6):
        clock.now += rest
        assert breaker.allows_request()
        breaker.failed()
        rest = min(2 * rest, REST_MAX_S)
        clock.now += rest - 0.1
        assert not breaker.allows_request()
        clock.now += 0.1 - rest
        rests.append(rest)

    assert rests[-1] == REST_MAX_S


def test_failures_from_before_it_opened_change_nothing() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += REST_S / 2
    breaker.failed()
    clock.now += REST_S / 2

    assert breaker.allows_request()


def test_a_trial_that_never_reports_back_expires() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += REST_S
    assert breaker.allows_request()
    clock.now += REST_MAX_S

    assert breaker.allows_request()


def test_an_undecided_trial_leaves_the_next_one_to_another() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.now += REST_S
    assert breaker.allows_request()
    assert breaker.is_blocked

    breaker.undecided(breaker.trial)

    assert breaker.state == "half-open"
    assert not breaker.is_blocked
    assert [breaker.allows_request() for _ in range(2)] == [True, False]


def test_the_end_of_a_request_from_before_doesn_t_end_the_trial() -> None:
    clock = Clock()
    breaker = CircuitBreaker(clock)
    assert breaker.allows_request()
    before = breaker.trial
    for _ in range(FAILURES_MAX):
        breaker.failed()
    clock.now += REST_S
    assert breaker.allows_request()

    breaker.undecided(before)

    assert breaker.is_blocked
    breaker.failed()
    clock.now += REST_S
    assert breaker.is_blocked


def test_an_undecided_request_leaves_the_circuit_as_it_is() -> None:
    breaker = CircuitBreaker(Clock())
    breaker.undecided(None)
    assert (breaker.state, breaker.is_blocked) == ("closed", False)

    breaker = opened(Clock())
    breaker.undecided(None)
    assert (breaker.state, breaker.is_blocked) == ("open", True)
