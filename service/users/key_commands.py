"""Destroy a user's key: command and handler."""

from dataclasses import dataclass
from uuid import UUID

from service.errors import ForbiddenError, NotFoundError
from service.event_log.unit_of_work import UnitOfWork
from service.users.aggregate import User
from service.users.policy import may_act_for, may_see_user


@dataclass(frozen=True, slots=True, kw_only=True)
class DestroyUserKey:
    user_id: UUID


async def destroy_user_key(
    command: DestroyUserKey, work: UnitOfWork
) -> tuple[User, bool]:
    """Record that a user's key is destroyed; return whether they had it.

    :raises NotFoundError: there is no such user, or none that the caller may know
    :raises ForbiddenError: the caller is neither that user nor a superuser
    """
    user = await work.find(User, command.user_id)
    if user is None or not may_see_user(work.principal, command.user_id):
        raise NotFoundError("no such user")
    if not may_act_for(work.principal, command.user_id):
        raise ForbiddenError("only that user and superusers may destroy this key")
    changed = user.destroy_key()
    work.save(user)
    return user, changed
