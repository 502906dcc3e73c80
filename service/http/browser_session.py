"""A token that a browser holds as a cookie, for pages of this service alone.

The cookie's value is the token itself, so it ends with the token, in every process.
"""

from typing import Final
from urllib.parse import urlsplit

from aiohttp import hdrs, web

# Only the pages' own scripts send it: no form can, and no other origin may.
OWN_HEADER: Final = "X-Agent-Runtime-Console"
# The prefix makes browsers refuse one that another host of the domain has set, and
# one that came over plain HTTP.
COOKIE: Final = "__Host-agent-runtime-token"
# On loopback, where there is no TLS.
LOOPBACK_COOKIE: Final = "agent-runtime-token"
LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})
READING: Final = frozenset({hdrs.METH_GET, hdrs.METH_HEAD})


def authorization_of(request: web.Request) -> str | None:
    """Return the ``Authorization`` header, or what a page's cookie stands for."""
    header = request.headers.get(hdrs.AUTHORIZATION)
    if header is not None or hdrs.COOKIE not in request.headers:
        return header
    token = request.cookies.get(cookie_name(request))
    if token is None or not is_from_own_page(request):
        return None
    return f"Bearer {token}"


def is_from_own_page(request: web.Request) -> bool:
    """Say whether a page of this origin sent a request, as the browser reports it.

    A browser that doesn't send ``Sec-Fetch-Site`` is not believed: so neither is one
    over plain HTTP, except on loopback.
    """
    if not _is_reported_own(request):
        return False
    origin = request.headers.get(hdrs.ORIGIN)
    if origin is None:
        return request.method in READING
    return _host_of(origin) == request.host


def host_in_browser(request: web.Request) -> str | None:
    """Return the host in the browser's address, if it isn't that of the request.

    Then a proxy has put another ``Host`` in its place. None if the browser doesn't
    report that the page has the same origin as what it asks for.
    """
    host = _host_of(request.headers.get(hdrs.ORIGIN, ""))
    return host if _is_reported_own(request) and host != request.host else None


def _is_reported_own(request: web.Request) -> bool:
    headers = request.headers
    return OWN_HEADER in headers and headers.get("Sec-Fetch-Site") == "same-origin"


def _host_of(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def is_loopback(request: web.Request) -> bool:
    """Say whether the browser reached the service by a name of its own machine."""
    try:
        return urlsplit(f"//{request.host}").hostname in LOOPBACK
    except ValueError:
        return False


def cookie_name(request: web.Request) -> str:
    return LOOPBACK_COOKIE if is_loopback(request) else COOKIE
