"""The Kafka relay, and the documents about what it publishes."""

from aiohttp import web

from projections.relay.routes import EVENT_DOCUMENTS, EventDocuments
from projections.relay.routes import routes as event_documents
from service.capabilities.declaration import AppContext, Capability


def _add_resources(app: web.Application, context: AppContext) -> None:
    app[EVENT_DOCUMENTS] = EventDocuments(context.resources.log.mapper.event_types)


RELAY = Capability(
    name="relay", routes=(event_documents,), app_resources=_add_resources
)
