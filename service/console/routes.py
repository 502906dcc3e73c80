"""The console over HTTP: its page, its files, signing in and out."""

from datetime import UTC, datetime
from typing import Annotated, ClassVar, Final

from aiohttp import hdrs, web
from pydantic import Field
from typing_extensions import TypedDict

from service.console.codes import SignInCodes
from service.console.files import file_response
from service.errors import ForbiddenError, TooManyRequestsError, UnauthenticatedError
from service.http.app_keys import EVENT_LOG, LEFT_OUT
from service.http.authentication import count_refused_token, principal_of
from service.http.browser_session import (
    authorization_of,
    cookie_name,
    host_in_browser,
    is_from_own_page,
    is_loopback,
)
from service.http.envelope import Answer, respond
from service.http.operation import Routes
from service.http.requests import RequestModel
from service.principal import Principal
from service.users.aggregate import Token

routes = Routes("operation")

ANOTHER_PAGE = "another page than the console's has sent this"

SIGN_IN_CODES = web.AppKey("sign_in_codes", SignInCodes)
# A browser left open doesn't stay signed in for longer.
SESSION_MAX_S: Final = 12 * 3600
CREDENTIAL_CHARACTERS_MAX: Final = 200
NOT_OWN_PAGE: Final = (
    "only the console's own pages sign in, over HTTPS or on this machine"
)

PATHS: Final = {
    "console": "/console",
    "api_reference": "/docs",
    "openapi": "/openapi.json",
    "health": "/readyz",
}

Credential = Annotated[
    str | None, Field(min_length=1, max_length=CREDENTIAL_CHARACTERS_MAX)
]


class Session(TypedDict):
    """``left_out`` are the capabilities that the service runs without."""

    signed_in: bool
    left_out: list[str]


class SignIn(RequestModel):
    """Either a token, or a one-time code that stands for one."""

    NAMES_SHOWN: ClassVar[bool] = False

    token: Credential = None
    code: Credential = None


@routes.get(
    "/",
    answers={200: "paths of the service", 303: "browsers go to the console"},
    public=True,
    documented=False,
)
async def get_root(request: web.Request) -> web.Response:
    """Send browsers to the console, and name the paths to other clients."""
    if "text/html" in request.headers.get(hdrs.ACCEPT, ""):
        return web.Response(status=303, headers={hdrs.LOCATION: "/console"})
    return respond(Answer(message="paths of the service", data=PATHS))


@routes.get(
    "/console",
    answers={200: "the page"},
    content_type="text/html",
    public=True,
    documented=False,
)
async def get_console(request: web.Request) -> web.Response:
    """Get the console, whose pages are fragments of this address."""
    return file_response(request, "index.html")


@routes.get(
    "/console/{folder}/{file}",
    answers={200: "a part of the page", 404: "the page has no such part"},
    public=True,
    documented=False,
)
async def get_console_file(
    request: web.Request, folder: str, file: str
) -> web.Response:
    """Get a script, style sheet or picture of the console."""
    return file_response(request, f"{folder}/{file}")


@routes.get(
    "/console/session",
    answers={200: "whether the browser is signed in"},
    public=True,
    documented=False,
)
async def get_console_session(request: web.Request) -> Answer[Session]:
    """Say whether the browser's cookie is valid, without an error if not.

    A browser would report 401 on the first visit as a fault of the page.
    """
    header = authorization_of(request)
    try:
        signed_in = header is not None and bool(await principal_of(request, header))
    except (UnauthenticatedError, TooManyRequestsError):
        # Who can't be signed in by the cookie gets the form.
        signed_in = False
    return Answer(
        message="session",
        data={"signed_in": signed_in, "left_out": request.app[LEFT_OUT]},
    )


@routes.post(
    "/console/session",
    answers={
        200: "signed in",
        401: "the token, or the code, is not valid",
        403: ANOTHER_PAGE,
        429: "too many of them were not valid",
    },
    public=True,
    documented=False,
    idempotent_key=False,
    body_example={"token": "art_000000000000000000000000000000000000"},
)
async def post_console_session(request: web.Request, body: SignIn) -> web.Response:
    """Keep a token, given once, as a cookie that no script can read.

    :raises ForbiddenError: another page than the console's has sent this
    :raises UnauthenticatedError: the token, or the code, is not valid
    """
    _refuse_other_pages(request)
    token = body.token
    if body.code is not None:
        token = request.app[SIGN_IN_CODES].redeem(body.code)
        if token is None:
            count_refused_token(request, body.code)
            raise UnauthenticatedError(
                "this link has been used, or has expired; paste a token instead"
            )
    principal = await principal_of(request, f"Bearer {token or ''}")
    expires_at = await _expires_at(request, principal)
    remaining_s = (
        SESSION_MAX_S
        if expires_at is None
        else (expires_at - datetime.now(UTC)).total_seconds()
    )
    response = respond(
        Answer(message="signed in", data={"user_id": str(principal.user_id)})
    )
    response.set_cookie(
        cookie_name(request),
        token or "",
        max_age=max(1, int(min(remaining_s, SESSION_MAX_S))),
        path="/",
        secure=not is_loopback(request),
        httponly=True,
        samesite="Strict",
    )
    return response


@routes.delete(
    "/console/session",
    answers={200: "signed out", 403: ANOTHER_PAGE},
    public=True,
    documented=False,
    idempotent_key=False,
)
async def delete_console_session(request: web.Request) -> web.Response:
    """Forget the cookie; the token stays valid.

    :raises ForbiddenError: another page than the console's has sent this
    """
    _refuse_other_pages(request)
    response = respond(Answer(message="signed out", data=None))
    response.del_cookie(
        cookie_name(request),
        path="/",
        secure=not is_loopback(request),
        httponly=True,
        samesite="Strict",
    )
    return response


def _refuse_other_pages(request: web.Request) -> None:
    if is_from_own_page(request):
        return
    if (host := host_in_browser(request)) is not None:
        raise ForbiddenError(
            f"the browser's address has the host {host}, but the request came with the "
            f"host {request.host}: the proxy between them has to pass on Host",
            code="wrong_host",
        )
    raise ForbiddenError(NOT_OWN_PAGE)


async def _expires_at(request: web.Request, principal: Principal) -> datetime | None:
    assert principal.token_id is not None
    token = await request.app[EVENT_LOG].load(principal.token_id)
    if not isinstance(token, Token) or token.expires_at is None:
        return None
    return datetime.fromisoformat(token.expires_at)
