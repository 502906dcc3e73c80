"""Routes of the documents about the event topic."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, Final, Self

from aiohttp import web
from pydantic import Field

from projections.relay.asyncapi import asyncapi_document
from projections.relay.public_event import public_events
from projections.relay.schemas import event_schemas, readable
from service.errors import NotFoundError
from service.http.operation import Routes
from service.pacing import in_thread

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

    @classmethod
    def of(cls, document: dict[str, Any]) -> Self:
        body = readable(document)
        return cls(body, f'"{hashlib.sha256(body).hexdigest()[:32]}"')


class EventDocuments:
    """The documents about some types of event, rendered when first asked for."""

    def __init__(self, event_types: Mapping[str, type[Any]]) -> None:
        self._public = public_events(event_types)

    @cached_property
    def asyncapi(self) -> RenderedDocument:
        return RenderedDocument.of(asyncapi_document(self._public))

    @cached_property
    def schemas(self) -> Mapping[str, RenderedDocument]:
        return {
            name: RenderedDocument.of(schema)
            for name, schema in event_schemas(self._public).items()
        }


EVENT_DOCUMENTS = web.AppKey("event_documents", EventDocuments)


@routes.get(
    "/asyncapi.json",
    answers={200: "the document", 304: "not modified since If-None-Match"},
    data=dict[str, Any],
    content_type="application/json",
    public=True,
)
async def get_asyncapi(request: web.Request) -> web.Response:
    """Get the AsyncAPI 3.0 document of the event topic."""
    documents = request.app[EVENT_DOCUMENTS]
    return _answer(request, await in_thread(lambda: documents.asyncapi))


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
    documents = request.app[EVENT_DOCUMENTS]
    schema = await in_thread(lambda: documents.schemas.get(name))
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
