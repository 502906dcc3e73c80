"""Users' names: their form, sealing them, and finding a user by name."""

from typing import Final
from uuid import UUID

from service.event_log.protocol import CommandLog
from service.http.validation_errors import explained
from service.keys.cipher import OpenError, TextBinding
from service.keys.user_keys import KeyDestroyedError
from service.keys.vault import Vault
from service.users.aggregate import User, UserName

NAME_PATTERN: Final = explained(
    r"^[a-z0-9][a-z0-9._-]{0,63}$",
    "must have 1 to 64 characters of a-z 0-9 . _ -, and begin with a letter or digit",
)


async def sealed_name(name: str, vault: Vault, *, user_id: UUID, version: int) -> str:
    """Seal a user's name for one of their events.

    :raises KeyDestroyedError: the user's key was destroyed
    """
    return await vault.seal_text(name, _binding(user_id, version))


async def opened_name(
    sealed: str, vault: Vault, *, user_id: UUID, version: int
) -> str | None:
    """Return a sealed name; None if it is damaged, or its key destroyed."""
    try:
        return await vault.open_text(sealed, _binding(user_id, version))
    except (KeyDestroyedError, OpenError):
        return None


async def name_of(user: User, vault: Vault) -> str | None:
    """Return a user's name; None if it was erased."""
    if user.sealed_name is None:
        return user.name
    return await opened_name(
        user.sealed_name, vault, user_id=user.id, version=user.name_version
    )


async def find_user(name: str, log: CommandLog, vault: Vault) -> User | None:
    """Return the user who has or had a name, unless they were erased."""
    claimed = await log.load(vault.user_name_id(name))
    user_id = User.create_id(name)
    if isinstance(claimed, UserName):
        user_id = UUID(claimed.user_id)
    user = await log.load(user_id)
    return user if isinstance(user, User) and not user.is_erased else None


def _binding(user_id: UUID, version: int) -> TextBinding:
    return TextBinding(owner_id=user_id, session_id=user_id, turn=version, field="name")
