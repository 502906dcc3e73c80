"""The user commands over HTTP."""

from functools import partial
from typing import Annotated, NamedTuple, TypeVar
from uuid import UUID

from aiohttp import web
from pydantic import Field

from service.event_log.unit_of_work import UnitOfWork
from service.http.app_keys import VAULT
from service.http.dispatch import Handler, dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import RequestModel
from service.keys.vault import Vault
from service.principal import Role
from service.users.aggregate import User
from service.users.commands import (
    CreateUser,
    DisableUser,
    EnableUser,
    GrantRole,
    RevokeRole,
    create_user,
    disable_user,
    enable_user,
    grant_role,
    revoke_role,
)
from service.users.erasing_commands import (
    EraseUser,
    RenameUser,
    erase_user,
    rename_user,
)
from service.users.key_routes import destroy_recorded_key
from service.users.names import NAME_PATTERN, name_of
from service.users.resource import (
    UserResource,
    user_resource,
)

routes = Routes("users", "Users, their roles and their tokens.")

Command = TypeVar("Command")

NO_SUCH_USER = "no such user, or none that the caller can see"
NOT_SUPERUSER = "the caller is not a superuser"


class NewUser(RequestModel):
    name: Annotated[str, Field(pattern=NAME_PATTERN)]
    roles: Annotated[tuple[Role, ...], Field(max_length=len(Role))] = ()


class NewName(RequestModel):
    name: Annotated[str, Field(pattern=NAME_PATTERN)]


class Changed(NamedTuple):
    """A user with their name, and whether a command has changed them."""

    user: User
    name: str | None
    has_changed: bool


@routes.post(
    "/api/users",
    answers={
        201: "user created",
        403: NOT_SUPERUSER,
        409: "the name is taken (`user_name_taken`)",
    },
    body_example={"name": "ada", "roles": ["auditor"]},
)
async def post_user(request: web.Request, body: NewUser) -> Answer[UserResource]:
    """Create a user.

    For superusers. The name is stored under the user's key and can be changed. Tokens
    are issued separately.
    """

    def present(user: User) -> Answer[UserResource]:
        return Answer(
            status=201,
            message="user created",
            data=user_resource(user, body.name),
            etag=user.version,
            headers={"Location": f"/api/users/{user.id}"},
        )

    return await dispatch(
        request,
        partial(create_user, vault=request.app[VAULT]),
        CreateUser(name=body.name, roles=body.roles),
        present,
    )


@routes.put(
    "/api/users/{user_id}/roles/{role}",
    answers={
        200: "role granted, or role was already granted",
        403: NOT_SUPERUSER,
        404: NO_SUCH_USER,
    },
    if_match=True,
)
async def put_user_role(
    request: web.Request, user_id: UUID, role: Role
) -> Answer[UserResource]:
    """Grant a role to a user.

    For superusers. It applies from the user's next request on.
    """
    return await dispatch(
        request,
        _with_name(grant_role, request.app[VAULT]),
        GrantRole(user_id=user_id, role=role),
        lambda result: _user_answer(
            result, changed="role granted", unchanged="role was already granted"
        ),
    )


@routes.delete(
    "/api/users/{user_id}/roles/{role}",
    answers={
        200: "role revoked, or role was not granted",
        403: NOT_SUPERUSER,
        404: NO_SUCH_USER,
        409: "superusers can't demote themselves (`own_superuser_role`)",
    },
    if_match=True,
)
async def delete_user_role(
    request: web.Request, user_id: UUID, role: Role
) -> Answer[UserResource]:
    """Revoke a role of a user.

    For superusers. Superusers can't revoke their own role superuser, so one always
    remains.
    """
    return await dispatch(
        request,
        _with_name(revoke_role, request.app[VAULT]),
        RevokeRole(user_id=user_id, role=role),
        lambda result: _user_answer(
            result, changed="role revoked", unchanged="role was not granted"
        ),
    )


@routes.put(
    "/api/users/{user_id}/name",
    answers={
        200: "user renamed, or user already had this name",
        403: NOT_SUPERUSER,
        404: NO_SUCH_USER,
        409: "the name is taken (`user_name_taken`), the user was erased "
        "(`user_erased`), or their key destroyed (`key_destroyed`)",
    },
    body_example={"name": "ada"},
    if_match=True,
)
async def put_user_name(
    request: web.Request, user_id: UUID, body: NewName
) -> Answer[UserResource]:
    """Rename a user.

    For superusers. The id stays, and the earlier name stays reserved for the user.
    """
    vault = request.app[VAULT]
    return await dispatch(
        request,
        _with_name(partial(rename_user, vault=vault), vault),
        RenameUser(user_id=user_id, name=body.name),
        lambda result: _user_answer(
            result, changed="user renamed", unchanged="user already had this name"
        ),
    )


@routes.delete(
    "/api/users/{user_id}",
    answers={
        200: "user erased, or user was already erased",
        403: NOT_SUPERUSER,
        404: NO_SUCH_USER,
        409: "superusers can't erase themselves (`own_account`)",
    },
    if_match=True,
)
async def delete_user(request: web.Request, user_id: UUID) -> Answer[UserResource]:
    """Erase a user.

    For superusers. Irreversibly disables the user and destroys their key: their name,
    the values of their secrets and the texts of their sessions become unreadable. What
    they did stays in the log, under their id. Repeat the call if it fails: only a
    success confirms that the key is destroyed.
    """
    vault = request.app[VAULT]
    answer = await dispatch(
        request,
        _with_name(erase_user, vault),
        EraseUser(user_id=user_id),
        lambda result: _user_answer(
            result, changed="user erased", unchanged="user was already erased"
        ),
    )
    await destroy_recorded_key(request, user_id)
    return answer


@routes.put(
    "/api/users/{user_id}/disabled",
    answers={
        200: "user disabled, or user was already disabled",
        403: NOT_SUPERUSER,
        404: NO_SUCH_USER,
        409: "superusers can't disable themselves (`own_account`)",
    },
    if_match=True,
)
async def put_user_disabled(
    request: web.Request, user_id: UUID
) -> Answer[UserResource]:
    """Disable a user.

    For superusers. None of the user's tokens is accepted from then on; requests that
    haven't been committed yet fail, and their streams and exports end. What the user
    owns and manages stays.
    """
    return await dispatch(
        request,
        _with_name(disable_user, request.app[VAULT]),
        DisableUser(user_id=user_id),
        lambda result: _user_answer(
            result, changed="user disabled", unchanged="user was already disabled"
        ),
    )


@routes.delete(
    "/api/users/{user_id}/disabled",
    answers={
        200: "user enabled, or user was not disabled",
        403: NOT_SUPERUSER,
        404: NO_SUCH_USER,
        409: "the user was erased (`user_erased`)",
    },
    if_match=True,
)
async def delete_user_disabled(
    request: web.Request, user_id: UUID
) -> Answer[UserResource]:
    """Enable a disabled user.

    For superusers. Those of the user's tokens that are still valid are accepted again.
    """
    return await dispatch(
        request,
        _with_name(enable_user, request.app[VAULT]),
        EnableUser(user_id=user_id),
        lambda result: _user_answer(
            result, changed="user enabled", unchanged="user was not disabled"
        ),
    )


def _with_name(
    handler: Handler[Command, tuple[User, bool]], vault: Vault
) -> Handler[Command, Changed]:
    """Let a handler return the user's name, too."""

    async def handle(command: Command, work: UnitOfWork) -> Changed:
        user, has_changed = await handler(command, work)
        return Changed(user, await name_of(user, vault), has_changed)

    return handle


def _user_answer(
    result: Changed, *, changed: str, unchanged: str
) -> Answer[UserResource]:
    return Answer(
        message=changed if result.has_changed else unchanged,
        data=user_resource(result.user, result.name),
        etag=result.user.version,
    )
