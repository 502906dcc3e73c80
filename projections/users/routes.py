"""Users over HTTP: the caller, lists of users, and metadata of tokens."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.engine.paging import page_of
from projections.engine.snapshot import reading
from projections.users.queries import (
    manages_an_agent,
    tokens_of_user,
    user_by_id,
    users_by_creation,
)
from projections.users.table import UserRow
from service.errors import ForbiddenError, NotFoundError
from service.http.app_keys import EVENT_LOG, VAULT
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.rate_limit import RateLimit
from service.http.requests import QueryModel
from service.keys.vault import Vault
from service.principal import Role
from service.users.aggregate import User
from service.users.names import NAME_PATTERN, find_user, name_of, opened_name
from service.users.policy import may_look_up_users, may_see_user
from service.users.resource import TokenResource, UserResource, user_resource

routes = Routes("users")

PAGE_SIZE_MAX = 100
PAGE_SIZE = 25
LOOK_UPS = RateLimit(burst=60, interval_s=1.0)
UserName = Annotated[str, Field(pattern=NAME_PATTERN)]


class UserListQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE
    after: UUID | None = None


class TokenListQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE
    after: UUID | None = None


class Me(UserResource):
    """The calling user, and the id of the token of this request."""

    token_id: UUID | None


class FoundUser(TypedDict):
    """A user with their present name."""

    id: UUID
    name: str | None


class UserList(TypedDict):
    users: list[UserResource]
    end_cursor: UUID | None


class TokenList(TypedDict):
    tokens: list[TokenResource]
    end_cursor: UUID | None


@routes.get("/api/users/me", answers={200: "the caller"})
async def get_me(request: web.Request) -> Answer[Me]:
    """Get the calling user.

    Read from the event log: roles are always current.
    """
    principal = request[PRINCIPAL]
    user = await request.app[EVENT_LOG].load(principal.user_id)
    assert isinstance(user, User)
    return Answer(
        message="the caller",
        data=Me(
            **user_resource(user, await name_of(user, request.app[VAULT])),
            token_id=principal.token_id,
        ),
        etag=user.version,
    )


@routes.get(
    "/api/users",
    answers={200: "users", 403: "the caller is neither superuser nor auditor"},
    min_position=True,
)
async def get_users(request: web.Request, query: UserListQuery) -> Answer[UserList]:
    """List all users, in the order in which they were created.

    For superusers and auditors.
    """
    if not request[PRINCIPAL].sees_everything:
        raise ForbiddenError("only superusers and auditors list users")
    async with reading(request, "users") as snapshot:
        users = await users_by_creation(
            snapshot.db, after=query.after, limit=query.limit + 1
        )
    page = page_of(users, query.limit, lambda user: user.id)
    vault = request.app[VAULT]
    return Answer(
        message="users",
        data=UserList(
            users=[await _shown(user, vault) for user in page.rows],
            end_cursor=page.end_cursor,
        ),
        headers=snapshot.headers,
    )


@routes.get(
    "/api/users/by-name/{user_name}",
    answers={
        200: "user found",
        403: "the caller is neither superuser nor auditor, and manages no agent",
        404: "no user of that name",
    },
    rate_limit=LOOK_UPS,
    min_position=True,
)
async def get_user_by_name(
    request: web.Request, user_name: UserName
) -> Answer[FoundUser]:
    """Look up a user's id by their name.

    For superusers, auditors and everybody who manages an agent, so that they can
    appoint other managers and readers. Limited to 60 calls at once, then one per
    second. A user who was renamed is found by earlier names, too.
    """
    principal = request[PRINCIPAL]
    async with reading(request, "agents") as snapshot:
        manages = await manages_an_agent(snapshot.db, principal.user_id)
    if not may_look_up_users(principal, manages_an_agent=manages):
        raise ForbiddenError(
            "only superusers, auditors and managers of an agent look up users"
        )
    vault = request.app[VAULT]
    user = await find_user(user_name, request.app[EVENT_LOG], vault)
    if user is None:
        raise NotFoundError("no user of that name")
    return Answer(
        message="user found",
        data=FoundUser(id=user.id, name=await name_of(user, vault)),
        headers=snapshot.headers,
    )


@routes.get(
    "/api/users/{user_id}",
    answers={200: "user", 404: "no such user, or none that the caller can see"},
    min_position=True,
)
async def get_user(request: web.Request, user_id: UUID) -> Answer[UserResource]:
    """Get a user.

    Superusers and auditors see all users, others only themselves.
    """
    async with reading(request, "users") as snapshot:
        user = await user_by_id(snapshot.db, user_id)
    if user is None or not may_see_user(request[PRINCIPAL], user_id):
        raise NotFoundError("no such user")
    return Answer(
        message="user",
        data=await _shown(user, request.app[VAULT]),
        etag=user.version,
        headers=snapshot.headers,
    )


@routes.get(
    "/api/users/{user_id}/tokens",
    answers={200: "tokens", 404: "no such user, or none that the caller can see"},
    min_position=True,
)
async def get_user_tokens(
    request: web.Request, user_id: UUID, query: TokenListQuery
) -> Answer[TokenList]:
    """List a user's tokens, latest first.

    The caller's own, or any user's for superusers and auditors. The tokens themselves
    can't be read.
    """
    async with reading(request, "users") as snapshot:
        user = await user_by_id(snapshot.db, user_id)
        if user is None or not may_see_user(request[PRINCIPAL], user_id):
            raise NotFoundError("no such user")
        tokens = await tokens_of_user(
            snapshot.db, user_id, after=query.after, limit=query.limit + 1
        )
    page = page_of(tokens, query.limit, lambda token: token["id"])
    return Answer(
        message="tokens",
        data=TokenList(
            tokens=page.rows,
            end_cursor=page.end_cursor,
        ),
        headers=snapshot.headers,
    )


async def _shown(row: UserRow, vault: Vault) -> UserResource:
    name = row.name
    if row.sealed_name is not None:
        name = await opened_name(
            row.sealed_name, vault, user_id=row.id, version=row.name_version
        )
    return {
        "id": row.id,
        "name": name,
        "roles": [Role(role) for role in row.roles],
        "is_disabled": row.is_disabled,
        "is_erased": row.is_erased,
        "version": row.version,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
    }
