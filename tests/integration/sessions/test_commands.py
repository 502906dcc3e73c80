"""Session commands: what happens, what is refused, and when there is nothing to do."""

from collections.abc import Callable
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from service.agents.aggregate import Agent
from service.errors import ConflictError, InvalidRequestError
from service.event_log.unit_of_work import UnitOfWork
from service.principal import Role
from service.resources import Resources
from service.sessions import aggregate
from service.sessions.aggregate import ChatSession
from service.sessions.commands import (
    RecordTurns,
    StartSession,
    record_turns,
    start_session,
)
from service.sessions.turn import Texts, Turn
from tests.support.scenario import Scenario, principal

RUNTIME = principal("machine", Role.RUNTIME)
AT = Scenario.at
AGENT = Agent(name="helper", description="", manager_id=str(RUNTIME.user_id))


def turn(turn_id: str, **words: Any) -> Turn:
    times = {"started_at": AT - timedelta(seconds=2), "ended_at": AT}
    return Turn(turn_id=turn_id, texts=Texts(), **{**times, **words})


def turns(*ids: str) -> RecordTurns:
    return RecordTurns(session_id="chat", turns=[turn(each) for each in ids])


@pytest.fixture
def record(resources: Resources) -> Callable[..., Any]:
    return partial(record_turns, vault=resources.vault)


@pytest.fixture
async def started(scenario: Scenario) -> Scenario:
    session = ChatSession(
        session_id="chat",
        agent_id=str(AGENT.id),
        user_id=str(RUNTIME.user_id),
        started_at=AT.isoformat(),
    )
    return await scenario.given(session)


async def test_turns_of_one_command_are_told_apart(
    started: Scenario, record: Callable[..., Any]
) -> None:
    await started.when(record, turns("a", "b", "a"), by=RUNTIME)

    await started.then(
        ("session.turn_recorded", RUNTIME), ("session.turn_recorded", RUNTIME)
    )
    assert started.result[1] == [True, True, False]


async def test_turns_are_recorded_all_or_none(
    started: Scenario, record: Callable[..., Any]
) -> None:
    backwards = turn("b", ended_at=AT - timedelta(days=1))

    await started.when(
        record, RecordTurns(session_id="chat", turns=[turn("a"), backwards]), by=RUNTIME
    )

    await started.then_refused(InvalidRequestError)


async def test_a_full_session_takes_no_more_turns(
    started: Scenario, record: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aggregate, "TURNS_MAX", 2)
    await started.when(record, turns("a", "b"), by=RUNTIME)

    await started.when(record, turns("a", "c"), by=RUNTIME)

    await started.then_refused(ConflictError)
    assert started.error is not None
    assert started.error.code == "session_full"


async def test_one_command_can_start_a_session_and_record_its_turns(
    scenario: Scenario, record: Callable[..., Any]
) -> None:
    agent = Agent(name="helper", description="", manager_id=str(RUNTIME.user_id))
    await scenario.given(agent)

    async def ingest(command: StartSession, work: UnitOfWork) -> list[bool]:
        await start_session(command, work)
        _, known = await record(turns("a", "b"), work)
        return known  # type: ignore[no-any-return]  # through a partial

    await scenario.when(
        ingest, StartSession(session_id="chat", agent_id=agent.id), by=RUNTIME
    )

    await scenario.then(
        ("session.started", RUNTIME),
        ("session.turn_recorded", RUNTIME),
        ("session.turn_recorded", RUNTIME),
    )
