"""A session starts and ends by commands."""

from service.agents.aggregate import Agent
from service.principal import Role
from service.sessions.aggregate import ChatSession
from service.sessions.commands import (
    EndSession,
    StartSession,
    end_session,
    start_session,
)
from tests.support.scenario import Scenario, principal

RUNTIME = principal("machine", Role.RUNTIME)
AT = Scenario.at


async def test_a_session_starts_with_the_command_by_default(
    scenario: Scenario,
) -> None:
    agent = Agent(name="helper", description="", manager_id=str(RUNTIME.user_id))
    await scenario.given(agent)

    await scenario.when(
        start_session, StartSession(session_id="chat", agent_id=agent.id), by=RUNTIME
    )

    await scenario.then(("session.started", RUNTIME))
    session, is_new = scenario.result
    assert is_new
    assert session.started_at == AT.isoformat()


async def test_a_session_ends_once(scenario: Scenario) -> None:
    await scenario.given(
        ChatSession(
            session_id="chat",
            agent_id="helper",
            user_id=str(RUNTIME.user_id),
            started_at=AT.isoformat(),
        )
    )

    await scenario.when(end_session, EndSession(session_id="chat"), by=RUNTIME)
    await scenario.then(("session.ended", RUNTIME))

    await scenario.when(end_session, EndSession(session_id="chat"), by=RUNTIME)
    await scenario.then()
