"""The Kafka relay, and the documents about what it publishes."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from projections.relay.kafka_settings import kafka_settings
from projections.relay.routes import EVENT_DOCUMENTS, EventDocuments
from projections.relay.routes import routes as event_documents
from service.capabilities.declaration import Capability, Process
from service.config import Config


def _check_settings(config: Config) -> None:
    """Before the process starts that may have to publish."""
    if "relay" in config.parts or (config.only is None and config.kafka is not None):
        kafka_settings(config)


def _add_resources(app: web.Application, process: Process) -> None:
    app[EVENT_DOCUMENTS] = EventDocuments(process.resources.log.mapper.event_types)


@asynccontextmanager
async def _relay(process: Process) -> AsyncIterator[None]:
    # Only where it runs: other processes need no client of Kafka.
    from projections.relay.relay import run_relay

    resources, settings = process.resources, kafka_settings(process.config)
    async with run_relay(
        resources.log, resources.conninfo, settings, traces=process.traces
    ):
        yield


@asynccontextmanager
async def _checkpoint_relay(process: Process) -> AsyncIterator[None]:
    if "proofs" in process.config.left_out:
        yield
        return
    from projections.relay.checkpoint_relay import run_checkpoint_relay

    resources, settings = process.resources, kafka_settings(process.config)
    async with run_checkpoint_relay(resources.pool, resources.conninfo, settings):
        yield


RELAY = Capability(
    name="relay",
    routes=(event_documents,),
    check_settings=_check_settings,
    app_resources=_add_resources,
    background={"relay": (_relay, _checkpoint_relay)},
)
