"""Create users, change roles, issue and revoke tokens: commands and handlers."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final
from uuid import UUID, uuid4

from service.errors import (
    ConflictError,
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    Problem,
)
from service.event_log.unit_of_work import UnitOfWork
from service.keys.vault import Vault
from service.principal import Role
from service.users.aggregate import Token, User, UserName
from service.users.names import sealed_name
from service.users.policy import (
    gives_up_power,
    is_own_account,
    may_act_for,
    may_administer_users,
    may_see_user,
)

# The log's name for what happens without a caller.
RESERVED_NAMES: Final = frozenset({"system"})


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateUser:
    name: str
    user_id: UUID = field(default_factory=uuid4)
    roles: tuple[Role, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class GrantRole:
    user_id: UUID
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeRole:
    user_id: UUID
    role: Role


@dataclass(frozen=True, slots=True, kw_only=True)
class IssueToken:
    """``token_id`` stands for the token, which no command ever holds.

    Without ``expires_at`` the token is valid until it is revoked.
    """

    user_id: UUID
    token_id: UUID = field(repr=False)
    label: str
    expires_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RevokeToken:
    user_id: UUID
    token_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class DisableUser:
    user_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class EnableUser:
    user_id: UUID


async def create_user(command: CreateUser, work: UnitOfWork, vault: Vault) -> User:
    """Create a user whose name nobody has, or ever had.

    :raises ForbiddenError: the caller is not a superuser
    :raises ConflictError: the name is taken
    """
    refuse_unless_administrator(work)
    await claim_name(command.name, command.user_id, work, vault)
    sealed = await sealed_name(
        command.name, vault, user_id=command.user_id, version=User.INITIAL_VERSION
    )
    user = User(id=command.user_id, sealed_name=sealed)
    for role in command.roles:
        user.grant_role(role)
    work.save(user)
    return user


async def claim_name(name: str, user_id: UUID, work: UnitOfWork, vault: Vault) -> None:
    """Reserve a name for a user, unless it is theirs already.

    :raises ConflictError: another user has it, or had it
    """
    claimed = await work.find(UserName, vault.user_name_id(name))
    plain = await work.find(User, User.create_id(name))
    holders = {each.user_id for each in [claimed] if each}
    holders |= {str(each.id) for each in [plain] if each}
    if name in RESERVED_NAMES or holders - {str(user_id)}:
        raise ConflictError(f"the name {name} is taken", code="user_name_taken")
    if not holders:
        work.save(UserName(id=vault.user_name_id(name), user_id=str(user_id)))


async def grant_role(command: GrantRole, work: UnitOfWork) -> tuple[User, bool]:
    """Give a role; return the user, and whether they didn't have it before.

    :raises NotFoundError: there is no such user, or none that the caller can see
    :raises ForbiddenError: the caller is not a superuser
    """
    user = await visible_user(work, command.user_id)
    refuse_unless_administrator(work)
    work.match(user)
    changed = user.grant_role(command.role)
    work.save(user)
    return user, changed


async def revoke_role(command: RevokeRole, work: UnitOfWork) -> tuple[User, bool]:
    """Take a role away; return the user, and whether they had it.

    :raises NotFoundError: there is no such user, or none that the caller can see
    :raises ForbiddenError: the caller is not a superuser
    :raises ConflictError: a superuser would demote themself
    """
    user = await visible_user(work, command.user_id)
    refuse_unless_administrator(work)
    if gives_up_power(work.principal, command.user_id, command.role):
        raise ConflictError(
            "only another superuser can take this role from you, so that there is "
            "always one",
            code="own_superuser_role",
        )
    work.match(user)
    changed = user.revoke_role(command.role)
    work.save(user)
    return user, changed


async def issue_token(command: IssueToken, work: UnitOfWork) -> Token:
    """Make a token valid for a user.

    :raises NotFoundError: there is no such user, or none that the caller can see
    :raises ForbiddenError: the caller is neither that user nor a superuser
    :raises InvalidRequestError: expires_at is in the past
    :raises ConflictError: the user is disabled, or has as many valid tokens as they
        can have
    """
    user = await visible_user(work, command.user_id)
    _refuse_unless_acting_for(work, command.user_id)
    return await issue_to(user, command, work)


async def issue_to(user: User, command: IssueToken, work: UnitOfWork) -> Token:
    """Make a token valid for a user; the caller is authorized to do so.

    :raises InvalidRequestError: as :func:`issue_token`
    :raises ConflictError: as :func:`issue_token`
    """
    if command.expires_at is not None and command.expires_at <= work.at:
        raise InvalidRequestError(
            "the body is not valid",
            problems=[Problem("expires_at", "must be in the future")],
        )
    if user.is_disabled:
        raise ConflictError("this user is disabled", code="user_disabled")
    user.add_token(command.token_id, dropped=await _no_longer_valid(user, work))
    token = Token(
        id=command.token_id,
        user_id=str(user.id),
        label=command.label,
        expires_at=(
            None if command.expires_at is None else command.expires_at.isoformat()
        ),
    )
    work.save(user)
    work.save(token)
    return token


async def _no_longer_valid(user: User, work: UnitOfWork) -> Sequence[str]:
    """Return the user's tokens that needn't count, looked up only at the limit."""
    if not user.has_all_tokens:
        return ()
    tokens = {each: await work.find(Token, UUID(each)) for each in user.tokens}
    return [
        each
        for each, token in tokens.items()
        if token is None or not token.is_valid(work.at)
    ]


async def revoke_token(command: RevokeToken, work: UnitOfWork) -> tuple[Token, bool]:
    """Revoke a token; return it, and whether it was valid before.

    :raises NotFoundError: there is no such user or token, or none that the caller
        can see
    :raises ForbiddenError: the caller is neither that user nor a superuser
    """
    await visible_user(work, command.user_id)
    token = await work.find(Token, command.token_id)
    if token is None or token.user_id != str(command.user_id):
        raise NotFoundError("no such token")
    _refuse_unless_acting_for(work, command.user_id)
    changed = token.revoke()
    work.save(token)
    return token, changed


async def disable_user(command: DisableUser, work: UnitOfWork) -> tuple[User, bool]:
    """Refuse all tokens of a user; return the user, and whether that is new.

    :raises NotFoundError: there is no such user, or none that the caller can see
    :raises ForbiddenError: the caller is not a superuser
    :raises ConflictError: superusers would disable themselves
    """
    user = await user_of_another(work, command.user_id, "disable")
    work.match(user)
    changed = user.disable()
    work.save(user)
    return user, changed


async def enable_user(command: EnableUser, work: UnitOfWork) -> tuple[User, bool]:
    """Accept a user's tokens again; return the user, and whether that is new.

    :raises NotFoundError: there is no such user, or none that the caller can see
    :raises ForbiddenError: the caller is not a superuser
    :raises ConflictError: the user was erased
    """
    user = await visible_user(work, command.user_id)
    refuse_unless_administrator(work)
    if user.is_erased:
        raise user_is_erased()
    work.match(user)
    changed = user.enable()
    work.save(user)
    return user, changed


async def visible_user(work: UnitOfWork, user_id: UUID) -> User:
    """Load a user who exists for the caller.

    :raises NotFoundError: the same for none and an invisible one
    """
    user = await work.find(User, user_id)
    if user is None or not may_see_user(work.principal, user_id):
        raise NotFoundError("no such user")
    return user


def user_is_erased() -> ConflictError:
    return ConflictError("this user was erased", code="user_erased")


async def user_of_another(work: UnitOfWork, user_id: UUID, verb: str) -> User:
    """Load a user who is to be disabled or erased by another superuser.

    :raises NotFoundError: there is no such user, or none that the caller can see
    :raises ForbiddenError: the caller is not a superuser
    :raises ConflictError: it is the caller
    """
    user = await visible_user(work, user_id)
    refuse_unless_administrator(work)
    if is_own_account(work.principal, user_id):
        raise ConflictError(
            f"only another superuser can {verb} you, so that there is always one",
            code="own_account",
        )
    return user


def refuse_unless_administrator(work: UnitOfWork) -> None:
    if not may_administer_users(work.principal):
        raise ForbiddenError("only a superuser manages users")


def _refuse_unless_acting_for(work: UnitOfWork, user_id: UUID) -> None:
    if not may_act_for(work.principal, user_id):
        raise ForbiddenError("only this user and superusers manage these tokens")
