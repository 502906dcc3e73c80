"""The service in this process with spans that stay here."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest
from aiohttp.test_utils import TestClient
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.sdk.trace.sampling import DEFAULT_ON, Sampler

from service.app import create_app
from service.http.operation import add_operations
from service.resources import Resources
from service.tracing.tracing import Tracing
from tests.integration.http.conftest import routes
from tests.support.callers import Callers
from tests.support.http_server import Server


@dataclass(frozen=True, slots=True)
class Traced:
    """Callers of a service whose requests are traced, without followers."""

    callers: Callers
    client: TestClient
    exporter: InMemorySpanExporter

    @property
    def spans(self) -> list[ReadableSpan]:
        """The spans that have ended, in that order."""
        return list(self.exporter.get_finished_spans())

    def named(self, name: str) -> list[ReadableSpan]:
        return [span for span in self.spans if span.name == name]


@asynccontextmanager
async def tracing(
    resources: Resources, sampler: Sampler = DEFAULT_ON
) -> AsyncIterator[Traced]:
    exporter = InMemorySpanExporter()
    provider = TracerProvider(sampler=sampler, shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    app = create_app(resources, traces=Tracing(provider))
    add_operations(app, routes.operations)
    async with TestClient(Server(app)) as client:
        yield Traced(Callers(resources, client), client, exporter)


@pytest.fixture
async def traced(resources: Resources) -> AsyncIterator[Traced]:
    async with tracing(resources) as opened:
        yield opened
