"""A receiver of OTLP/HTTP on loopback."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web
from aiohttp.test_utils import TestServer
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.trace.v1.trace_pb2 import Span


@dataclass
class Receiver:
    """What was exported so far; complete once the exporting process has ended."""

    url: str = ""
    bodies: list[bytes] = field(default_factory=list)
    status: int = 200

    async def handle(self, request: web.Request) -> web.Response:
        self.bodies.append(await request.read())
        return web.Response(
            body=ExportTraceServiceResponse().SerializeToString(),
            content_type="application/x-protobuf",
            status=self.status,
        )

    @property
    def spans(self) -> list[Span]:
        return [
            span
            for body in self.bodies
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]


@asynccontextmanager
async def receiver() -> AsyncIterator[Receiver]:
    received = Receiver()
    app = web.Application()
    app.router.add_post("/v1/traces", received.handle)
    async with TestServer(app) as server:
        received.url = str(server.make_url("/v1/traces"))
        yield received


def attributes(span: Span) -> dict[str, Any]:
    return {
        each.key: each.value.int_value
        if each.value.HasField("int_value")
        else each.value.string_value
        for each in span.attributes
    }
