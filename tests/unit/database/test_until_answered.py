"""Repeating the reads of answers that have begun."""

import psycopg
import pytest
from psycopg_pool import PoolClosed

from service import unavailable
from service.connection_pool import PoolBusyError
from service.errors import UnavailableError
from service.unavailable import until_answered


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unavailable, "RETRY_S", 0.0)
    monkeypatch.setattr(unavailable, "UNAVAILABLE_MAX_S", 0.0)


class Reads:
    """Fails as told, then answers."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = [*failures]

    async def __call__(self) -> str:
        if self.failures:
            raise self.failures.pop(0)
        return "answer"


@pytest.mark.parametrize(
    "busy", [PoolBusyError(), UnavailableError("busy", code="database_busy")]
)
async def test_a_busy_database_is_asked_until_it_answers(busy: Exception) -> None:
    assert await until_answered(Reads(*[busy] * 100)) == "answer"


@pytest.mark.parametrize(
    "failure", [psycopg.OperationalError(), UnavailableError("unavailable")]
)
async def test_one_that_is_away_is_given_up(failure: Exception) -> None:
    reads = Reads(*[failure] * 100)

    with pytest.raises(type(failure)):
        await until_answered(reads)

    assert len(reads.failures) == 98


async def test_one_that_was_busy_meanwhile_is_not_away() -> None:
    away = psycopg.OperationalError()

    assert await until_answered(Reads(away, PoolBusyError(), away)) == "answer"


@pytest.mark.parametrize("failure", [PoolClosed(), ValueError()])
async def test_what_does_not_pass_is_raised(failure: Exception) -> None:
    with pytest.raises(type(failure)):
        await until_answered(Reads(failure))


async def test_a_wait_ends_with_what_is_done_meanwhile() -> None:
    async def leave() -> None:
        raise ConnectionResetError

    with pytest.raises(ConnectionResetError):
        await until_answered(Reads(PoolBusyError()), leave)
