"""How many calls, and bytes of their bodies, may be in flight."""

from uuid import UUID

import pytest

from service.errors import TooManyRequestsError, UnavailableError
from service.model_gateway.endpoint import limits
from service.model_gateway.endpoint.limits import CallLimits

ONE, OTHER, THIRD = (UUID(int=number) for number in (1, 2, 3))


@pytest.fixture(autouse=True)
def low(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "CALLS_MAX", 3)
    monkeypatch.setattr(limits, "CALLS_OF_AGENT_MAX", 2)
    monkeypatch.setattr(limits, "BODY_BYTES_MAX", 10)
    monkeypatch.setattr(limits, "BODIES_OF_AGENT_BYTES_MAX", 20)
    monkeypatch.setattr(limits, "BODIES_BYTES_MAX", 30)


def test_an_agent_has_its_share_of_calls_and_leaves_others_theirs() -> None:
    found = CallLimits()
    with found.counted(ONE), found.counted(ONE):
        with pytest.raises(TooManyRequestsError), found.counted(ONE):
            pass
        with found.counted(OTHER), pytest.raises(UnavailableError):
            found.counted(THIRD).__enter__()
    with found.counted(ONE), found.counted(ONE), found.counted(OTHER):
        pass


def test_bodies_that_never_end_leave_room_for_those_of_others() -> None:
    found = CallLimits()
    # Without a length, one may become as large as any; a longer one is refused later.
    with found.held(ONE, None), found.held(ONE, 1_000):
        with pytest.raises(TooManyRequestsError), found.held(ONE, 1):
            pass
        with found.held(OTHER, 10), pytest.raises(UnavailableError):
            found.held(THIRD, 1).__enter__()
    with found.held(ONE, 10), found.held(ONE, 10), found.held(OTHER, 10):
        pass
