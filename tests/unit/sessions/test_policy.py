"""Who may record and see sessions."""

from uuid import uuid4

import pytest

from service.agents.aggregate import Agent
from service.principal import Principal, Role
from service.sessions.aggregate import ChatSession
from service.sessions.policy import (
    may_record,
    may_reprice,
    may_see,
    records_for_anyone,
)
from tests.support.scenario import principal

MANAGER, OWNER = principal("manager"), principal("owner")
RUNTIME = principal("machine", Role.RUNTIME)
SUPERUSER = principal("root", Role.SUPERUSER)
AUDITOR = principal("auditor", Role.AUDITOR)
STRANGER = principal("stranger")
AGENT = Agent(name="helper", description="", manager_id=str(MANAGER.user_id))
SESSION = ChatSession(
    session_id="chat",
    agent_id=str(uuid4()),
    user_id=str(OWNER.user_id),
    started_at="2026-03-01T12:00:00+00:00",
)


@pytest.mark.parametrize(
    ("who", "own", "others", "anyone"),
    [
        (RUNTIME, True, True, True),
        (SUPERUSER, True, True, True),
        (MANAGER, True, False, False),
        (OWNER, False, False, False),
        (AUDITOR, False, False, False),
        (STRANGER, False, False, False),
    ],
)
def test_who_may_record(
    who: Principal, *, own: bool, others: bool, anyone: bool
) -> None:
    assert may_record(who, AGENT, who.user_id) is own
    assert may_record(who, AGENT, uuid4()) is others
    assert records_for_anyone(who) is anyone


@pytest.mark.parametrize(
    ("who", "manages_agent", "expected"),
    [
        (OWNER, False, True),
        (MANAGER, True, True),
        (MANAGER, False, False),
        (RUNTIME, False, True),
        (SUPERUSER, False, True),
        (AUDITOR, False, True),
        (STRANGER, False, False),
    ],
)
def test_for_whom_a_session_exists(
    who: Principal, *, manages_agent: bool, expected: bool
) -> None:
    assert may_see(who, SESSION, manages_agent=manages_agent) is expected


@pytest.mark.parametrize(
    ("who", "expected"),
    [
        (SUPERUSER, True),
        (RUNTIME, False),
        (MANAGER, False),
        (OWNER, False),
        (AUDITOR, False),
        (STRANGER, False),
    ],
)
def test_who_may_reprice(who: Principal, *, expected: bool) -> None:
    assert may_reprice(who) is expected
