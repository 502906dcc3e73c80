"""Which errors of a follower pass by themselves."""

import psycopg
import pytest
from psycopg import errors

from projections.engine.follower import _is_transient
from projections.engine.follower_position import ReplacedError


@pytest.mark.parametrize(
    ("error", "passes"),
    [
        (psycopg.OperationalError("server closed the connection"), True),
        (errors.AdminShutdown(), True),
        (errors.QueryCanceled(), True),
        (errors.DiskFull(), True),
        (errors.DeadlockDetected(), True),
        (errors.ReadOnlySqlTransaction(), True),
        (errors.IdleInTransactionSessionTimeout(), True),
        (ConnectionResetError(), True),
        (ReplacedError(), True),
        (errors.ProgramLimitExceeded(), False),
        (errors.UniqueViolation(), False),
        (errors.UndefinedColumn(), False),
        (psycopg.ProgrammingError("without a code"), False),
        (KeyError(), False),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_passes_by_itself_is_told_from_a_fault(
    error: Exception, *, passes: bool
) -> None:
    assert _is_transient(error) is passes
