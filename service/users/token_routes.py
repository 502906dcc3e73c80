"""The commands on a user's tokens over HTTP."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field

from service.http.app_keys import KEY_RING
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.idempotency import SeededToken
from service.http.operation import Routes
from service.http.requests import Name, RequestModel
from service.http.times import Timestamp
from service.users.aggregate import Token, token_id
from service.users.commands import IssueToken, RevokeToken, issue_token, revoke_token
from service.users.resource import IssuedToken, TokenResource, token_resource
from service.users.routes import NO_SUCH_USER
from service.users.tokens import new_token

routes = Routes("users")

NOT_THEIRS = "the caller is neither that user nor a superuser"


class NewToken(RequestModel):
    label: Name
    expires_at: Annotated[
        Timestamp | None,
        Field(description="Without it, the token is valid until it is revoked."),
    ] = None


@routes.post(
    "/api/users/{user_id}/tokens",
    answers={
        201: "token issued",
        403: NOT_THEIRS,
        404: NO_SUCH_USER,
        409: "the user is disabled (`user_disabled`), or has the maximum number of "
        "valid tokens (`limit_reached`)",
        422: "expires_at is in the past",
    },
    body_example={"label": "laptop", "expires_at": "2030-01-01T00:00:00Z"},
)
async def post_user_token(
    request: web.Request, user_id: UUID, body: NewToken
) -> Answer[IssuedToken]:
    """Issue a token.

    For the caller, or for any user if the caller is a superuser. The answer contains
    the token. The service stores only a hash of it, so the token is shown again only to
    a repeated request with the same Idempotency-Key. A user has at most 100 valid
    tokens.
    """
    token = SeededToken(request, new_token)
    identifier = token_id(request.app[KEY_RING].token_hash(token.text))

    def present(issued: Token) -> Answer[IssuedToken]:
        return Answer(
            status=201,
            message="token issued; keep it, the service has only its hash",
            data=IssuedToken(**token_resource(issued), token=token.text),
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
        token,
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
