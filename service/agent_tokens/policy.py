"""Authorization of what callers do with the tokens of an agent."""

from uuid import UUID

from service.principal import Principal


def may_name_user(principal: Principal, user_id: UUID) -> bool:
    """Who may let an agent call for a user: that user alone.

    With it the agent uses the user's secrets, which not even a superuser reads.
    """
    return principal.user_id == user_id
