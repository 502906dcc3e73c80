"""Users and tokens as the API shows them."""

from datetime import datetime
from uuid import UUID

from typing_extensions import TypedDict

from service.http.envelope import SecretText
from service.principal import Role
from service.users.aggregate import Token, User


class UserResource(TypedDict):
    """A user; ``name`` is null once it was erased, or the user's key destroyed."""

    id: UUID
    name: str | None
    roles: list[Role]
    is_disabled: bool
    is_erased: bool
    version: int
    created_at: datetime
    updated_at: datetime


class TokenResource(TypedDict):
    """Metadata of a token, without the token itself."""

    id: UUID
    user_id: UUID
    label: str
    created_at: datetime
    expires_at: datetime | None
    revoked_at: datetime | None


class IssuedToken(TokenResource):
    """The only answer that contains the token itself."""

    token: SecretText


def user_resource(user: User, name: str | None) -> UserResource:
    return {
        "id": user.id,
        "name": name,
        "roles": [Role(role) for role in user.roles],
        "is_disabled": user.is_disabled,
        "is_erased": user.is_erased,
        "version": user.version,
        "created_at": user.created_on,
        "updated_at": user.modified_on,
    }


def token_resource(token: Token) -> TokenResource:
    return {
        "id": token.id,
        "user_id": UUID(token.user_id),
        "label": token.label,
        "created_at": token.created_on,
        "expires_at": (
            None
            if token.expires_at is None
            else datetime.fromisoformat(token.expires_at)
        ),
        "revoked_at": token.modified_on if token.is_revoked else None,
    }
