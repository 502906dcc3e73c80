"""The service's time limits, raised so that a busy machine doesn't meet them.

They are a user's limits: two seconds for a connection, five for a statement. A test
of one of them uses the fixture `own_time_limits`, or gives limits of its own; processes
that tests start have their own limits anyway.
"""

from collections.abc import Iterator
from typing import Final

import pytest

from projections.engine import follower, snapshot
from projections.relay import checkpoint_relay
from service import database
from service.event_log import commit_unknown, durable, writer_connection
from service.event_log.writer import Timeouts
from service.keys.key_program import ExecRootKeys
from service.waits import Waits

RAISED_S: Final = 60
# Constants that their modules read at each call.
CONSTANTS: Final = (
    (durable, "ANSWER_TIMEOUT_S"),
    (follower, "ANSWER_TIMEOUT_S"),
    (checkpoint_relay, "ANSWER_TIMEOUT_S"),
    (writer_connection, "CONNECT_TIMEOUT_S"),
    (commit_unknown, "CONNECT_TIMEOUT_S"),
    (commit_unknown, "ASK_TIMEOUT_S"),
    (snapshot, "OWN_WRITE_TIMEOUT_S"),
)
# Functions whose defaults are limits.
FUNCTIONS: Final = (
    database.connect,
    Timeouts.__init__,
    Waits.__init__,
    vars(ExecRootKeys)["start"].__func__,
)


@pytest.fixture(scope="session", autouse=True)
def raised_time_limits() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        raise_limits(patch)
        yield patch


@pytest.fixture
def own_time_limits(raised_time_limits: pytest.MonkeyPatch) -> Iterator[None]:
    """Leave the service its own limits for one test."""
    raised_time_limits.undo()
    yield
    raise_limits(raised_time_limits)


def raise_limits(patch: pytest.MonkeyPatch) -> None:
    for module, name in CONSTANTS:
        patch.setattr(module, name, RAISED_S)
    for function in FUNCTIONS:
        raised = dict.fromkeys(function.__kwdefaults__ or (), RAISED_S)
        patch.setattr(function, "__kwdefaults__", raised)
