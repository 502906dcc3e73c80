"""The user and token commands over HTTP."""

from functools import partial
from typing import Annotated, NamedTuple, TypeVar
from uuid import UUID

from aiohttp import web
from pydantic import Field

from service.event_log.unit_of_work import UnitOfWork
from service.http.app_keys import KEY_RING, VAULT
from service.http.dispatch import Handler, dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import Name, RequestModel, Timestamp
from service.keys.vault import Vault
from service.principal import Role
from service.users.aggregate import Token, User, token_id
from service.users.commands import (
    CreateUser,
    DisableUser,
    EnableUser,
    GrantRole,
    IssueToken,
    RevokeRole,
    RevokeToken,
    create_user,
    disable_user,
    enable_user,
    grant_role,
    issue_token,
    revoke_role,
    revoke_token,
)
from service.users.erasing_commands import (
    EraseUser,
    RenameUser,
    erase_user,
    rename_user,
)
from service.users.names import NAME_PATTERN, name_of
from service.users.resource import (
    IssuedToken,
    TokenResource,
    UserResource,
    token_resource,
    user_resource,
)
from service.users.tokens import new_token

routes = Routes("users")

Command = TypeVar("Command")

NO_SUCH_USER = "no such user, or none that the caller can see"
NOT_SUPERUSER = "the caller is not a superuser"
NOT_THEIRS = "the caller is neither that user nor a superuser"


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


class NewToken(RequestModel):
    label: Name
    expires_at: Annotated[
        Timestamp | None,
        Field(description="Without it, the token is valid until it is revoked."),
    ] = None


@routes.post(
    "/api/users",
    answers={201: "user created", 403: NOT_SUPERUSER, 409: "the name is taken"},
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
        409: "superusers can't demote themselves",
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
        409: "the name is taken, or the user was erased",
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
        409: "superusers can't erase themselves",
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
    # On record first. Should this fail, the follower of destructions does it.
    await vault.destroy_user(user_id)
    return answer


@routes.put(
    "/api/users/{user_id}/disabled",
    answers={
        200: "user disabled, or user was already disabled",
        403: NOT_SUPERUSER,
        404: NO_SUCH_USER,
        409: "superusers can't disable themselves",
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


@routes.post(
    "/api/users/{user_id}/tokens",
    answers={
        201: "token issued",
        403: NOT_THEIRS,
        404: NO_SUCH_USER,
        409: "the user is disabled, or has the maximum number of valid tokens",
        422: "the token would have expired already",
    },
    body_example={"label": "laptop", "expires_at": "2030-01-01T00:00:00Z"},
    idempotent_key=False,
)
async def post_user_token(
    request: web.Request, user_id: UUID, body: NewToken
) -> Answer[IssuedToken]:
    """Issue a token.

    For the caller, or for any user if the caller is a superuser. The answer contains
    the token. The service stores only a hash of it, so the token can't be shown again,
    and this operation takes no Idempotency-Key. A user has at most 100 valid tokens.
    """
    token = new_token()
    identifier = token_id(request.app[KEY_RING].token_hash(token))

    def present(issued: Token) -> Answer[IssuedToken]:
        return Answer(
            status=201,
            message="token issued; it is shown only this once",
            data=IssuedToken(**token_resource(issued), token=token),
            headers={
                "Cache-Control": "no-store",
                "Location": f"/api/users/{user_id}/tokens/{issued.id}",
            },
        )

    return await dispatch(
        request,
        issue_token,
        IssueToken(
            user_id=user_id,
            token_id=identifier,
            label=body.label,
            expires_at=body.expires_at,
        ),
        present,
    )


@routes.delete(
    "/api/users/{user_id}/tokens/{token_id}",
    answers={
        200: "token revoked, or token was already revoked",
        403: NOT_THEIRS,
        404: "no such user or token, or none that the caller can see",
    },
)
async def delete_user_token(
    request: web.Request,
    user_id: UUID,
    token_id: UUID,
) -> Answer[TokenResource]:
    """Revoke a token.

    The caller's own, or any user's for superusers. The token is rejected from the next
    request on; commands that haven't been committed yet fail, too.
    """

    def present(result: tuple[Token, bool]) -> Answer[TokenResource]:
        token, changed = result
        return Answer(
            message="token revoked" if changed else "token was already revoked",
            data=token_resource(token),
        )

    return await dispatch(
        request,
        revoke_token,
        RevokeToken(user_id=user_id, token_id=token_id),
        present,
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
