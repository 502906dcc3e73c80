"""Rename and erase users: commands and handlers."""

from dataclasses import dataclass
from uuid import UUID

from service.event_log.unit_of_work import UnitOfWork
from service.keys.user_keys import KeyDestroyedError
from service.keys.vault import Vault
from service.users.aggregate import User
from service.users.commands import (
    claim_name,
    refuse_unless_administrator,
    user_is_erased,
    user_of_another,
    visible_user,
)
from service.users.names import name_of, sealed_name


@dataclass(frozen=True, slots=True, kw_only=True)
class RenameUser:
    user_id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EraseUser:
    user_id: UUID


async def rename_user(
    command: RenameUser, work: UnitOfWork, vault: Vault
) -> tuple[User, bool]:
    """Give a user another name; return the user, and whether it is another.

    :raises NotFoundError: there is no such user, or none that the caller can see
    :raises ForbiddenError: the caller is not a superuser
    :raises ConflictError: another user has the name, or had it; or the user was erased,
        or their key destroyed
    """
    user = await visible_user(work, command.user_id)
    refuse_unless_administrator(work)
    if user.is_erased:
        raise user_is_erased()
    if user.key_is_destroyed:
        # A fact of the log: the key itself is destroyed afterwards.
        raise KeyDestroyedError
    work.match(user)
    if await name_of(user, vault) == command.name:
        return user, False
    await claim_name(command.name, user.id, work, vault)
    user.rename(
        await sealed_name(
            command.name, vault, user_id=user.id, version=user.version + 1
        )
    )
    work.save(user)
    return user, True


async def erase_user(command: EraseUser, work: UnitOfWork) -> tuple[User, bool]:
    """Record that a user is erased; return the user, and whether they weren't yet.

    :raises NotFoundError: there is no such user, or none that the caller can see
    :raises ForbiddenError: the caller is not a superuser
    :raises ConflictError: superusers would erase themselves
    """
    user = await user_of_another(work, command.user_id, "erase")
    work.match(user)
    changed = user.erase()
    work.save(user)
    return user, changed
