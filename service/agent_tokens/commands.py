"""Issue, list and revoke the tokens of agents: commands and handlers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from service.agent_tokens.aggregate import AgentToken, AgentTokens
from service.agent_tokens.policy import may_name_user
from service.agents.aggregate import Agent
from service.agents.commands import managed_agent
from service.errors import (
    ForbiddenError,
    InvalidRequestError,
    Problem,
)
from service.event_log.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueAgentToken:
    """``token_id`` stands for the token, which no command ever holds.

    Without ``expires_at`` the token is valid until it is revoked. With ``user_id`` the
    agent calls for that user.
    """

    agent_id: UUID
    token_id: UUID = field(repr=False)
    label: str
    user_id: UUID | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAgentTokens:
    agent_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeAgentToken:
    agent_id: UUID
    token_id: UUID


async def issue_agent_token(command: IssueAgentToken, work: UnitOfWork) -> AgentToken:
    """Make a token valid for an agent.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent, or names another user
    :raises InvalidRequestError: expires_at is in the past
    :raises ConflictError: the agent is retired, or has as many valid tokens as it can
    """
    agent = await managed_agent(work, command.agent_id)
    if command.user_id and not may_name_user(work.principal, command.user_id):
        raise ForbiddenError(
            "only users themselves issue tokens that call for them",
            problems=[Problem("user_id", "is not the caller")],
        )
    agent.refuse_if_retired()
    if command.expires_at is not None and command.expires_at <= work.at:
        raise InvalidRequestError(
            "the body is not valid",
            problems=[Problem("expires_at", "must be in the future")],
        )
    tokens = await _tokens(work, agent) or AgentTokens(agent_id=str(agent.id))
    issued = tokens.issue(
        command.token_id,
        user_id=command.user_id,
        by=work.principal.user_id,
        label=command.label,
        expires_at=command.expires_at,
        at=work.at,
    )
    work.save(tokens)
    return issued


async def list_agent_tokens(
    command: ListAgentTokens, work: UnitOfWork
) -> Sequence[AgentToken]:
    """Return the tokens of an agent that were not revoked, latest first.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent
    """
    tokens = await _tokens(work, await managed_agent(work, command.agent_id))
    return tokens.tokens[::-1] if tokens else []


async def revoke_agent_token(
    command: RevokeAgentToken, work: UnitOfWork
) -> tuple[AgentTokens | None, bool]:
    """Revoke a token; return the agent's tokens, and whether there was such a one.

    Only managers are told that there was none: to others it doesn't name them.

    :raises NotFoundError: there is no such agent, or none that the caller can see
    :raises ForbiddenError: the caller doesn't manage the agent, and the token doesn't
        name them
    """
    agent = await work.find(Agent, command.agent_id)
    tokens = await _tokens(work, agent) if agent else None
    token = tokens.token(command.token_id) if tokens else None
    if token is None or token.user_id != work.principal.user_id:
        await managed_agent(work, command.agent_id)
    if tokens is None:
        return None, False
    changed = tokens.revoke(command.token_id)
    work.save(tokens)
    return tokens, changed


async def _tokens(work: UnitOfWork, agent: Agent) -> AgentTokens | None:
    return await work.find(AgentTokens, AgentTokens.create_id(str(agent.id)))
