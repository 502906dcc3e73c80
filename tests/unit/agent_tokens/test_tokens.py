"""Tokens of agents: who issues and revokes them, and where they are refused."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from service.agent_tokens.aggregate import TOKENS_MAX, AgentTokens
from service.agent_tokens.commands import (
    IssueAgentToken,
    RevokeAgentToken,
    issue_agent_token,
    revoke_agent_token,
)
from service.errors import ConflictError, ForbiddenError, NotFoundError
from service.principal import Principal
from tests.support.connectors.making import AUDITOR, MANAGER, ROOT, STRANGER, agent_of
from tests.support.scenario import Scenario

DAY = timedelta(days=1)


def issuing(agent_id: UUID, user_id: UUID | None = None) -> IssueAgentToken:
    return IssueAgentToken(
        agent_id=agent_id,
        token_id=uuid4(),
        label="build server",
        user_id=user_id,
        expires_at=None,
    )


@pytest.mark.parametrize("caller", [MANAGER, ROOT])
async def test_a_manager_issues_a_token_of_an_agent(
    scenario: Scenario, caller: Principal
) -> None:
    agent = agent_of(MANAGER)
    await scenario.given(agent)

    await scenario.when(issue_agent_token, issuing(agent.id), by=caller)

    await scenario.then(
        ("agent_tokens.created", caller), ("agent_tokens.issued", caller)
    )


async def test_an_auditor_issues_none(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    await scenario.given(agent)

    await scenario.when(issue_agent_token, issuing(agent.id), by=AUDITOR)

    await scenario.then_refused(ForbiddenError)


async def test_nobody_lets_an_agent_call_for_another_user(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    await scenario.given(agent)

    command = issuing(agent.id, user_id=MANAGER.user_id)
    await scenario.when(issue_agent_token, command, by=ROOT)

    await scenario.then_refused(ForbiddenError)


async def test_a_retired_agent_gets_none(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    agent.retire()
    await scenario.given(agent)

    await scenario.when(issue_agent_token, issuing(agent.id), by=MANAGER)

    await scenario.then_refused(ConflictError)


async def test_the_user_whom_a_token_names_revokes_it(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    tokens = AgentTokens(agent_id=str(agent.id))
    token_id = uuid4()
    tokens.issue(
        token_id,
        user_id=STRANGER.user_id,
        by=STRANGER.user_id,
        label="x",
        expires_at=None,
        at=Scenario.at,
    )
    await scenario.given(agent, tokens)
    revocation = RevokeAgentToken(agent_id=agent.id, token_id=token_id)

    await scenario.when(revoke_agent_token, revocation, by=STRANGER)

    await scenario.then(("agent_tokens.revoked", STRANGER))
    await scenario.when(revoke_agent_token, revocation, by=STRANGER)
    await scenario.then_refused(NotFoundError)
    await scenario.when(revoke_agent_token, revocation, by=MANAGER)
    await scenario.then()


async def test_revoking_a_token_of_an_agent_without_any(scenario: Scenario) -> None:
    agent = agent_of(MANAGER)
    await scenario.given(agent)
    revocation = RevokeAgentToken(agent_id=agent.id, token_id=uuid4())

    for manager in (MANAGER, ROOT):
        await scenario.when(revoke_agent_token, revocation, by=manager)
        await scenario.then()
    await scenario.when(revoke_agent_token, revocation, by=STRANGER)
    await scenario.then_refused(NotFoundError)


def test_an_agent_has_so_many_valid_tokens() -> None:
    tokens = AgentTokens(agent_id=str(uuid4()))
    until = Scenario.at + DAY

    def issue() -> None:
        tokens.issue(
            uuid4(),
            user_id=None,
            by=uuid4(),
            label="x",
            expires_at=until,
            at=at,
        )

    at = Scenario.at
    for _ in range(TOKENS_MAX):
        issue()
    with pytest.raises(ConflictError):
        issue()
    at = until
    issue()

    assert len(tokens.tokens) == 1
