"""Which targets are left alone, and for how long."""

from functools import partial

import pytest

from service.circuit_breaker import FAILURES_MAX, REST_MAX_S, REST_S, CircuitBreaker
from service.model_gateway.calls import suspensions
from service.model_gateway.calls.suspensions import Suspensions, Trial
from tests.support.clock import Clock
from tests.support.connectors.making import OWNER
from tests.support.model_gateway.making import connection_of, settings
from tests.unit.model_gateway.planning import planned

TARGET = planned("a")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(suspensions, "CircuitBreaker", partial(CircuitBreaker, clock))
    return clock


def tried(made: Suspensions) -> Trial:
    """Return a trial, which must be allowed."""
    trial = made.trial(TARGET)
    assert trial is not None
    return trial


def failed(made: Suspensions) -> None:
    for _ in range(FAILURES_MAX):
        tried(made).failed()
    assert made.trial(TARGET) is None


def test_a_target_is_left_alone_after_failures_in_a_row(clock: Clock) -> None:
    made = Suspensions()
    for _ in range(2 * FAILURES_MAX):
        tried(made).failed()
        tried(made).succeeded()

    failed(made)

    assert made.rest_left_s(TARGET) == REST_S
    assert made.trial(planned("b")) is not None


@pytest.mark.parametrize(
    ("said_s", "rest_s"), [(7.0, 7.0), (None, REST_S), (3600.0, REST_MAX_S)]
)
def test_a_target_says_for_how_long_to_leave_it_alone(
    clock: Clock, said_s: float | None, rest_s: float
) -> None:
    made = Suspensions()

    tried(made).suspend(said_s)

    assert made.rest_left_s(TARGET) == rest_s
    clock.now += rest_s - 0.1
    assert made.trial(TARGET) is None
    clock.now += 0.1
    assert made.trial(TARGET) is not None


def test_a_target_that_asks_for_no_rest_is_left_alone_when_it_fails(
    clock: Clock,
) -> None:
    made = Suspensions()
    tried(made).suspend(0.0)

    tried(made).failed()

    assert made.rest_left_s(TARGET) == REST_S


def test_a_trial_that_has_begun_lets_others_call(clock: Clock) -> None:
    made = Suspensions()
    failed(made)
    clock.now += REST_S
    trial = tried(made)
    assert made.trial(TARGET) is None

    trial.has_begun()

    assert made.trial(TARGET) is not None
    # Its end counts like that of any other call.
    trial.failed()
    tried(made).failed()
    assert made.trial(TARGET) is not None
    tried(made).failed()
    assert made.trial(TARGET) is None


@pytest.mark.parametrize("end", ["succeeded", "failed", "undecided"])
def test_a_call_from_before_does_not_decide_the_trial(clock: Clock, end: str) -> None:
    made = Suspensions()
    before = tried(made)
    failed(made)
    clock.now += REST_S
    trial = tried(made)

    getattr(before, end)()

    assert made.trial(TARGET) is None
    trial.succeeded()
    assert made.trial(TARGET) is not None
    assert made.rest_left_s(TARGET) == 0.0


def test_a_success_from_before_does_not_end_a_suspension(clock: Clock) -> None:
    made = Suspensions()
    before = tried(made)
    failed(made)

    before.succeeded()
    before.has_begun()

    assert made.trial(TARGET) is None


def test_an_undecided_trial_leaves_the_next_one_to_another(clock: Clock) -> None:
    made = Suspensions()
    failed(made)
    clock.now += REST_S

    tried(made).undecided()

    assert made.trial(TARGET) is not None
    assert made.trial(TARGET) is None


def test_a_target_whose_connection_was_changed_is_tried(clock: Clock) -> None:
    made, connection = Suspensions(), connection_of(OWNER)
    broken = planned("a", connection=connection)
    for _ in range(FAILURES_MAX):
        trial = made.trial(broken)
        assert trial is not None
        trial.failed()
    assert made.trial(broken) is None

    connection.edit(settings(base_url="https://other.example/v1"))

    assert made.trial(broken) is not None
