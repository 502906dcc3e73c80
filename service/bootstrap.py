"""Tokens made without an API call: the first administrator's, and the operator's."""

import asyncio
import os
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from service.errors import NotFoundError
from service.event_log.execute import execute
from service.event_log.unit_of_work import UnitOfWork
from service.keys.root_key import KeyRingError, read_private
from service.principal import Role
from service.resources import Resources
from service.users.aggregate import Token, User, token_id
from service.users.commands import IssueToken, issue_to
from service.users.names import find_user
from service.users.tokens import ADMIN_TOKEN_FILE, is_well_formed, new_token

ADMIN: Final = "admin"
SYSTEM: Final = {"actor": "system"}


async def create_first_admin(resources: Resources, data_dir: Path) -> Path | None:
    """Create the superuser ``admin`` unless there is one; return their token's file.

    The file is written first, atomically, and then user and token in one append.
    After a crash in between, the next start issues the token in the file; in the
    other order, a crash would leave an administrator whose token is lost. Of several
    processes, one writes the file and one appends; a file written in vain is removed.

    :returns: the file with a valid token, or None when this folder has none
    :raises KeyRingError: a file of that name is there, but is not such a file
    """
    file = data_dir / ADMIN_TOKEN_FILE
    admin_id = User.create_id(ADMIN)
    if await resources.log.load(admin_id) is not None:
        return file if await _holds_valid_token(resources, file) else None
    token = await asyncio.to_thread(_token_in, file)
    identifier = token_id(resources.key_ring.token_hash(token))

    async def create(work: UnitOfWork) -> bool:
        if await work.find(User, admin_id) is not None:
            return await work.find(Token, identifier) is not None
        admin = User(name=ADMIN)
        admin.grant_role(Role.SUPERUSER)
        command = IssueToken(
            user_id=admin_id, token_id=identifier, label="made at first start"
        )
        await issue_to(admin, command, work)
        return True

    is_valid, _ = await execute(
        resources.log, create, metadata=SYSTEM, at=datetime.now(UTC)
    )
    if is_valid:
        return file
    file.unlink(missing_ok=True)
    return None


async def issue_token_for(
    resources: Resources, name: str, *, expires_at: datetime | None = None
) -> str:
    """Issue a token for a user, as the operator of the service.

    :raises NotFoundError: there is no user of that name
    :raises InvalidRequestError: expires_at is in the past
    :raises ConflictError: the user is disabled, or has as many valid tokens as they
        can have
    """
    token = new_token()
    found = await find_user(name, resources.log, resources.vault)
    if found is None:
        raise NotFoundError(f"no user is named {name!r}")
    user_id = found.id
    command = IssueToken(
        user_id=user_id,
        token_id=token_id(resources.key_ring.token_hash(token)),
        label="issued on the command line",
        expires_at=expires_at,
    )

    async def issue(work: UnitOfWork) -> None:
        await issue_to(await work.load(User, user_id), command, work)

    await execute(resources.log, issue, metadata=SYSTEM, at=datetime.now(UTC))
    return token


async def _holds_valid_token(resources: Resources, file: Path) -> bool:
    try:
        token = await asyncio.to_thread(read_private, file)
    except (OSError, KeyRingError):
        return False
    identifier = token_id(resources.key_ring.token_hash(token.strip()))
    issued = await resources.log.load(identifier)
    admin = await resources.log.load(User.create_id(ADMIN))
    return (
        isinstance(issued, Token)
        and issued.is_valid(datetime.now(UTC))
        and isinstance(admin, User)
        and not admin.is_disabled
    )


def _token_in(file: Path) -> str:
    """Return the token in a file, which is created if missing."""
    if not file.exists():
        _make(file)
    token = read_private(file).strip()
    if not is_well_formed(token):
        raise KeyRingError(f"{file} holds no token; remove it and start again")
    return token


def _make(file: Path) -> None:
    """Write a new token to a file, atomically, with mode 0600."""
    descriptor, name = tempfile.mkstemp(prefix=f".{file.name}-", dir=file.parent)
    temporary = Path(name)
    try:
        with open(descriptor, "w", encoding="ascii") as opened:  # noqa: PTH123  # mkstemp gives a descriptor
            opened.write(new_token() + "\n")
            opened.flush()
            os.fsync(opened.fileno())
        try:
            # Unlike a rename, a link never replaces what another process made.
            os.link(temporary, file)
        except FileExistsError:
            return
        folder = os.open(file.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    finally:
        temporary.unlink()
