"""What the log says of a thing that fails, and what it leaves out."""

import logging

import psycopg

from service.errors import NotFoundError
from service.outages import CALM_S, FORGOTTEN_S, Outage, cause_of


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


def outage() -> tuple[Outage, Clock]:
    clock = Clock()
    return Outage(clock), clock


def is_told(failed: Outage, cause: str) -> bool:
    return failed.level(cause) == logging.WARNING


def test_a_cause_is_told_once_however_long_it_lasts() -> None:
    failed, clock = outage()
    assert is_told(failed, "refused")
    for _ in range(3):
        clock.pass_by(10 * CALM_S)
        assert not is_told(failed, "refused")
    assert failed.level("refused") == logging.DEBUG


def test_a_cause_that_nobody_has_met_for_long_is_told_again() -> None:
    failed, clock = outage()
    is_told(failed, "refused")
    clock.pass_by(FORGOTTEN_S)
    assert is_told(failed, "refused")
    assert not is_told(failed, "refused")


def test_a_line_has_the_level_that_it_is_worth() -> None:
    failed, _ = outage()
    assert failed.level("refused", logging.ERROR) == logging.ERROR


def test_another_cause_is_told() -> None:
    failed, _ = outage()
    assert is_told(failed, "refused")
    assert is_told(failed, "late")


def test_two_causes_by_turns_are_told_once_each() -> None:
    failed, clock = outage()
    told = []
    for _ in range(100):
        told += [is_told(failed, "refused"), is_told(failed, "late")]
        clock.pass_by(CALM_S / 2)
    assert told.count(True) == 2


def test_a_cause_that_comes_back_in_place_of_another_is_told() -> None:
    failed, clock = outage()
    is_told(failed, "refused")
    for _ in range(3):
        clock.pass_by(CALM_S / 2)
        is_told(failed, "late")
    assert is_told(failed, "refused")


def test_it_has_ended_when_nothing_failed_for_a_while() -> None:
    failed, clock = outage()
    assert not failed.has_ended()
    is_told(failed, "refused")
    assert not failed.has_ended()
    clock.pass_by(CALM_S)
    assert failed.has_ended()
    assert not failed.has_ended()
    assert is_told(failed, "refused")


def test_what_fails_every_other_time_is_told_once() -> None:
    failed, clock = outage()
    told = []
    for _ in range(100):
        told += [is_told(failed, "refused"), failed.has_ended()]
        clock.pass_by(CALM_S / 2)
    assert told.count(True) == 1


def test_what_has_worked_since_is_told_though_its_end_was_not() -> None:
    failed, clock = outage()
    is_told(failed, "refused")
    assert not failed.has_ended()
    clock.pass_by(CALM_S)
    assert is_told(failed, "refused")
    assert not is_told(failed, "refused")


def test_causes_of_one_type_differ_by_what_the_database_says() -> None:
    refused = psycopg.OperationalError("connection refused")
    assert cause_of(refused) == cause_of(psycopg.OperationalError("connection refused"))
    assert cause_of(refused) != cause_of(psycopg.OperationalError("no such role"))
    assert cause_of(refused) != cause_of(OSError("connection refused"))


def test_an_error_of_the_api_is_one_cause_whatever_it_names() -> None:
    assert cause_of(NotFoundError("no agent a")) == cause_of(
        NotFoundError("no agent b")
    )
