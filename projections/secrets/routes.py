"""Secrets over HTTP: lists and versions, never a value."""

from typing import Annotated, Final

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from projections.engine.paging import page_of
from projections.engine.snapshot import reading
from projections.secrets.queries import (
    ListedSecret,
    SecretVersion,
    own_secrets,
    versions_of,
)
from service.errors import NotFoundError
from service.http.authentication import PRINCIPAL
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import QueryModel
from service.secrets.names import SecretName, is_secret_name

routes = Routes("secrets")

NO_STORE: Final = {"Cache-Control": "no-store"}
Limit = Annotated[int, Field(ge=1, le=100)]


class SecretListQuery(QueryModel):
    limit: Limit = 25
    after: SecretName | None = None


class SecretQuery(QueryModel):
    limit: Limit = 25
    before: Annotated[int, Field(ge=1, le=2**53 - 1)] | None = None


class SecretList(TypedDict):
    secrets: list[ListedSecret]
    end_cursor: str | None


class SecretWithVersions(ListedSecret):
    versions: list[SecretVersion]
    end_cursor: int | None


@routes.get("/api/secrets", answers={200: "secrets"}, min_position=True)
async def get_secrets(
    request: web.Request, query: SecretListQuery
) -> Answer[SecretList]:
    """List the caller's secrets, by name.

    Nobody can list another user's secrets, whatever their roles.
    """
    async with reading(request, "secrets") as snapshot:
        secrets = await own_secrets(
            snapshot.db,
            owner_id=request[PRINCIPAL].user_id,
            after=query.after,
            limit=query.limit + 1,
        )
    page = page_of(secrets, query.limit, lambda secret: secret["name"])
    return Answer(
        message="secrets",
        data=SecretList(
            secrets=page.rows,
            end_cursor=page.end_cursor,
        ),
        headers={**NO_STORE, **snapshot.headers},
    )


@routes.get(
    "/api/secrets/{name}",
    answers={200: "secret", 404: "the caller has no such secret"},
    min_position=True,
)
async def get_secret(
    request: web.Request, name: str, query: SecretQuery
) -> Answer[SecretWithVersions]:
    """Get one of the caller's secrets with its versions, latest first.

    For every version: who set it, when, and whether its value still exists. ``before``
    continues from ``end_cursor``.
    """
    owner_id = request[PRINCIPAL].user_id
    if not is_secret_name(name):
        raise NotFoundError("no such secret")
    async with reading(request, "secrets") as snapshot:
        found = await own_secrets(snapshot.db, owner_id=owner_id, name=name, limit=1)
        if not found:
            raise NotFoundError("no such secret")
        versions = await versions_of(
            snapshot.db,
            owner_id=owner_id,
            name=name,
            before=query.before,
            limit=query.limit + 1,
        )
    page = page_of(versions, query.limit, lambda version: version["version"])
    return Answer(
        message="secret",
        data=SecretWithVersions(
            **found[0],
            versions=page.rows,
            end_cursor=page.end_cursor,
        ),
        etag=found[0]["version"],
        headers={**NO_STORE, **snapshot.headers},
    )
