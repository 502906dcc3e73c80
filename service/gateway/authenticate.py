"""Authenticate the tokens of agents against the log."""

from datetime import datetime
from uuid import UUID

from service.agents.aggregate import Agent
from service.errors import NotFoundError, UnauthenticatedError
from service.event_log.log import EventLog
from service.gateway.facts import Finder
from service.gateway.gate import Caller
from service.gateway.tokens.aggregate import AgentToken, AgentTokens
from service.identifiers import id_text
from service.keys.key_ring import KeyRing
from service.users.aggregate import User, token_id
from service.users.authenticate import bearer_token, refusal_of
from service.users.tokens import AGENT_PREFIX


async def authenticate_agent(
    header: str | None,
    agent_id: UUID,
    *,
    log: EventLog,
    key_ring: KeyRing,
    at: datetime,
) -> Caller:
    """Return who calls, by an ``Authorization`` header.

    :raises UnauthenticatedError: the same for a missing, malformed, unknown, revoked
        and expired token, one of another agent, and one that names a disabled user
    :raises NotFoundError: the agent is retired
    """
    identifier = token_id(key_ring.token_hash(bearer_token(header, AGENT_PREFIX)))
    tokens = await log.load(AgentTokens.create_id(id_text(agent_id)))
    issued = tokens.token(identifier) if isinstance(tokens, AgentTokens) else None
    if issued is None or not issued.is_valid(at):
        raise refusal_of(header)
    if issued.user_id is not None and not _is_active(await log.load(issued.user_id)):
        raise refusal_of(header)
    agent = await log.load(agent_id)
    if not isinstance(agent, Agent) or agent.is_retired:
        raise NotFoundError("no such agent")
    return Caller(agent_id=agent_id, token_id=identifier, user_id=issued.user_id)


async def valid_token(finder: Finder, caller: Caller, at: datetime) -> AgentToken:
    """Return the caller's token, as a fact of the decision that is being made.

    :raises UnauthenticatedError: it is no longer valid
    """
    tokens = await finder.find(
        AgentTokens, AgentTokens.create_id(id_text(caller.agent_id))
    )
    issued = tokens.token(caller.token_id) if tokens else None
    if issued is None or not issued.is_valid(at) or issued.user_id != caller.user_id:
        raise refused_token()
    if issued.user_id is not None and not _is_active(
        await finder.find(User, issued.user_id)
    ):
        raise refused_token()
    return issued


def refused_token() -> UnauthenticatedError:
    return refusal_of("")


def _is_active(user: object) -> bool:
    return isinstance(user, User) and not user.is_disabled
