"""The document, and the page that shows it, over HTTP."""

import mimetypes
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from aiohttp import web

from service.http.openapi.document import ApiDocument
from service.http.operation import Routes

routes = Routes("operation")

API_DOCUMENT = web.AppKey("api_document", ApiDocument)
PAGE: Final = "service.http.docs_page"
CONTENT_POLICY: Final = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'"
)
FRESH: Final = "no-cache"


@routes.get(
    "/openapi.json",
    answers={200: "this document", 304: "it is as If-None-Match has it"},
    data=dict[str, Any],
    content_type="application/json",
    public=True,
)
async def get_openapi(request: web.Request) -> web.Response:
    """Describe the API, in OpenAPI 3.1."""
    document = request.app[API_DOCUMENT]
    headers = {"ETag": document.etag, "Cache-Control": FRESH}
    if request.headers.get("If-None-Match") == document.etag:
        return web.Response(status=304, headers=headers)
    return web.Response(
        body=document.body, headers=headers, content_type="application/json"
    )


@routes.get(
    "/docs",
    answers={200: "the page"},
    content_type="text/html",
    public=True,
)
async def get_docs(_request: web.Request) -> web.Response:
    """Show the API to people: try it out, without leaving the service."""
    return _file("index.html")


@routes.get(
    "/docs/{asset}",
    answers={200: "a part of the page"},
    public=True,
    documented=False,
)
async def get_docs_asset(
    _request: web.Request, asset: Literal["icon.svg", "page.css", "page.js"]
) -> web.Response:
    """Answer what the page refers to."""
    return _file(asset)


def _file(name: str) -> web.Response:
    content_type, _ = mimetypes.guess_type(name)
    return web.Response(
        body=_bytes(name),
        content_type=content_type or "application/octet-stream",
        charset="utf-8",
        headers={
            "Content-Security-Policy": CONTENT_POLICY,
            "Cache-Control": FRESH,
            "Referrer-Policy": "no-referrer",
        },
    )


@cache
def _bytes(name: str) -> bytes:
    return (resources.files(PAGE) / name).read_bytes()
