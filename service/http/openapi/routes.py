"""Serve the OpenAPI document and the page that shows it."""

import hashlib
import mimetypes
from functools import cache
from importlib import resources
from typing import Any, Final, Literal

from aiohttp import web

from service.http.openapi.document import ApiDocument
from service.http.operation import Routes
from service.pacing import in_thread

routes = Routes("operation")

API_DOCUMENT = web.AppKey("api_document", ApiDocument)
PAGE: Final = "service.http.docs_page"
SWAGGER_UI: Final = "service.http.docs_page.vendor.swagger_ui"
CONTENT_POLICY: Final = (
    "default-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; object-src 'none'"
)
FRESH: Final = "no-cache"
Asset = Literal[
    "arrow.svg",
    "copy.svg",
    "icon.svg",
    "page.css",
    "page.js",
    "swagger-ui-bundle.js",
    "swagger-ui.css",
]


@routes.get(
    "/openapi.json",
    answers={200: "the OpenAPI document", 304: "not modified since If-None-Match"},
    data=dict[str, Any],
    content_type="application/json",
    public=True,
)
async def get_openapi(request: web.Request) -> web.Response:
    """Get the OpenAPI 3.1 document of this API."""
    # Generated when it is first asked for, which takes a third of a second.
    body, etag = await in_thread(request.app[API_DOCUMENT].rendered)
    headers = {"ETag": etag, "Cache-Control": FRESH}
    if request.headers.get("If-None-Match") == etag:
        return web.Response(status=304, headers=headers)
    return web.Response(body=body, headers=headers, content_type="application/json")


@routes.get(
    "/docs",
    answers={200: "the page", 304: "not modified since If-None-Match"},
    content_type="text/html",
    public=True,
)
async def get_docs(request: web.Request) -> web.Response:
    """Get a web page that shows this API and calls it."""
    return _file(request, "index.html")


@routes.get(
    "/docs/{asset}",
    answers={200: "a part of the page", 304: "not modified since If-None-Match"},
    public=True,
    documented=False,
)
async def get_docs_asset(request: web.Request, asset: Asset) -> web.Response:
    """Serve a file that the page refers to."""
    return _file(request, asset)


def _file(request: web.Request, name: str) -> web.Response:
    body, etag = _content(name)
    headers = {
        "Content-Security-Policy": CONTENT_POLICY,
        "Cache-Control": FRESH,
        "ETag": etag,
        "Referrer-Policy": "no-referrer",
    }
    if request.headers.get("If-None-Match") == etag:
        return web.Response(status=304, headers=headers)
    content_type, _ = mimetypes.guess_type(name)
    return web.Response(
        body=body,
        content_type=content_type or "application/octet-stream",
        charset="utf-8",
        headers=headers,
    )


@cache
def _content(name: str) -> tuple[bytes, str]:
    """Return a file of the page and its ETag."""
    folder = SWAGGER_UI if name.startswith("swagger-ui") else PAGE
    body = (resources.files(folder) / name).read_bytes()
    return body, f'"{hashlib.sha256(body).hexdigest()[:32]}"'
