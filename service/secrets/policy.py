"""Who may do what with secrets and the keys that they are sealed under.

A secret needs no rule: its id follows from its owner, so a caller can name none but
their own, whatever their roles.
"""

from uuid import UUID

from service.auth.principal import Principal


def may_destroy_key(principal: Principal, user_id: UUID) -> bool:
    return principal.is_superuser or principal.user_id == user_id


def may_know_user(principal: Principal, user_id: UUID) -> bool:
    """Say whether a user exists for a caller who asks about their key."""
    return principal.sees_everything or principal.user_id == user_id
