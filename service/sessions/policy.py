"""Authorization to record and to see sessions."""

from uuid import UUID

from service.agents.aggregate import Agent
from service.errors import ForbiddenError
from service.principal import Principal
from service.sessions.aggregate import ChatSession


def records_for_anyone(principal: Principal) -> bool:
    """Say whether a caller may record sessions of any agent and name their user."""
    return principal.is_runtime or principal.is_superuser


def may_record(principal: Principal, agent: Agent, user_id: UUID) -> bool:
    """Say whether a caller may start or continue a session of a user with an agent.

    A manager records only their own sessions: what is recorded for a user shows
    among that user's sessions and costs.
    """
    return records_for_anyone(principal) or (
        agent.is_managed_by(principal.user_id) and user_id == principal.user_id
    )


def may_see(principal: Principal, session: ChatSession, *, manages_agent: bool) -> bool:
    return (
        principal.sees_everything
        or principal.is_runtime
        or manages_agent
        or session.user_id == str(principal.user_id)
    )


def may_reprice(principal: Principal) -> bool:
    return principal.is_superuser


def refuse_unless_may_reprice(principal: Principal) -> None:
    """Check that a caller may reprice turns of all sessions.

    :raises ForbiddenError: the caller is no superuser
    """
    if not may_reprice(principal):
        raise ForbiddenError("only a superuser may reprice sessions")
