"""Authorization of what callers do with users and their tokens."""

from uuid import UUID

from service.principal import Principal, Role


def may_see_user(principal: Principal, user_id: UUID) -> bool:
    """Whether a user, with their tokens and key, exists for the caller."""
    return principal.sees_everything or principal.user_id == user_id


def may_look_up_users(principal: Principal, *, manages_an_agent: bool) -> bool:
    """Who may find the id of a user by their name."""
    return principal.sees_everything or manages_an_agent


def may_administer_users(principal: Principal) -> bool:
    return principal.is_superuser


def may_act_for(principal: Principal, user_id: UUID) -> bool:
    """Who may issue and revoke a user's tokens, and destroy their key."""
    return principal.is_superuser or principal.user_id == user_id


def is_own_account(principal: Principal, user_id: UUID) -> bool:
    """Whether a superuser disables or erases themself.

    Refused for the reason of :func:`gives_up_power`.
    """
    return principal.user_id == user_id


def gives_up_power(principal: Principal, user_id: UUID, role: Role) -> bool:
    """Whether a superuser revokes that role from themself.

    Refusing it is what keeps one superuser at all times: every other demotion has
    a caller who stays one, and the append checks that they still are.
    """
    return role is Role.SUPERUSER and principal.user_id == user_id
