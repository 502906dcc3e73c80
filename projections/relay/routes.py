"""Routes of the documents about the event topic."""

import asyncio
import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, Final

from aiohttp import web
from pydantic import Field

from projections.relay.asyncapi import asyncapi_document
from projections.relay.contract import readable, schemas
from service.errors import NotFoundError
from service.http.operation import Routes

routes = Routes("operation")

FRESH: Final = "no-cache"
EventName = Annotated[
    str,
    Field(
        pattern=r"^[a-z_]{1,64}\.[a-z_]{1,64}\.v[1-9][0-9]{0,3}$",
        description="Type and version of an event.",
        examples=["connector.made_public.v1"],
    ),
]


@dataclass(frozen=True, slots=True)
class RenderedDocument:
    body: bytes
    etag: str


@routes.get(
    "/asyncapi.json",
    answers={200: "the document", 304: "not modified since If-None-Match"},
    data=dict[str, Any],
    content_type="application/json",
    public=True,
)
async def get_asyncapi(request: web.Request) -> web.Response:
    """Get the AsyncAPI 3.0 document of the event topic."""
    return _answer(request, await asyncio.to_thread(_asyncapi))


@routes.get(
    "/schemas/events/{name}",
    answers={200: "the schema", 304: "not modified since If-None-Match"},
    data=dict[str, Any],
    content_type="application/json",
    public=True,
)
async def get_event_schema(request: web.Request, name: EventName) -> web.Response:
    """Get the JSON Schema of one event type and version.

    The name is the message's type without the prefix that all types share.
    """
    schema = await asyncio.to_thread(_schema, name)
    if schema is None:
        raise NotFoundError("no such type and version of event")
    return _answer(request, schema)


def _answer(request: web.Request, document: RenderedDocument) -> web.Response:
    headers = {"ETag": document.etag, "Cache-Control": FRESH}
    if request.headers.get("If-None-Match") == document.etag:
        return web.Response(status=304, headers=headers)
    return web.Response(
        body=document.body, headers=headers, content_type="application/json"
    )


@cache
def _asyncapi() -> RenderedDocument:
    return _rendered(asyncapi_document())


def _schema(name: str) -> RenderedDocument | None:
    return _known_schema(name) if name in schemas() else None


@cache
def _known_schema(name: str) -> RenderedDocument:
    return _rendered(schemas()[name])


def _rendered(document: dict[str, Any]) -> RenderedDocument:
    body = readable(document)
    return RenderedDocument(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')
