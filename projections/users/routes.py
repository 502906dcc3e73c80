"""Users over HTTP: who am I, lists, and what is known of tokens."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.engine.paging import page_of
from projections.engine.snapshot import reading
from projections.users.queries import tokens_of_user, user_by_id, users_by_name
from service.errors import ForbiddenError, NotFoundError
from service.http.app_keys import EVENT_LOG
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import QueryModel
from service.principal import Principal
from service.users.aggregate import User
from service.users.resource import TokenResource, UserResource, user_resource

routes = Routes("users")

PAGE_SIZE_MAX = 100
PAGE_SIZE = 25


class UserListQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE
    after: Annotated[str, Field(pattern=r"^[a-z0-9._-]{1,64}$")] | None = None


class TokenListQuery(QueryModel):
    limit: Annotated[int, Field(ge=1, le=PAGE_SIZE_MAX)] = PAGE_SIZE
    after: UUID | None = None


class Me(UserResource):
    """The calling user, and the id of the token of this request."""

    token_id: UUID | None


class UserList(TypedDict):
    users: list[UserResource]
    end_cursor: str | None


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
        data=Me(**user_resource(user), token_id=principal.token_id),
        etag=user.version,
    )


@routes.get(
    "/api/users",
    answers={200: "users", 403: "the caller is neither superuser nor auditor"},
    min_position=True,
)
async def get_users(request: web.Request, query: UserListQuery) -> Answer[UserList]:
    """List all users, by name.

    For superusers and auditors.
    """
    if not request[PRINCIPAL].sees_everything:
        raise ForbiddenError("only superusers and auditors list users")
    async with reading(request, "users") as snapshot:
        users = await users_by_name(
            snapshot.db, after=query.after, limit=query.limit + 1
        )
    page = page_of(users, query.limit, lambda user: user["name"])
    return Answer(
        message="users",
        data=UserList(
            users=page.rows,
            end_cursor=page.end_cursor,
        ),
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
    if user is None or not _may_see(request[PRINCIPAL], user_id):
        raise NotFoundError("no such user")
    return Answer(
        message="user", data=user, etag=user["version"], headers=snapshot.headers
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
        if user is None or not _may_see(request[PRINCIPAL], user_id):
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


def _may_see(principal: Principal, user_id: UUID) -> bool:
    return principal.sees_everything or principal.user_id == user_id
