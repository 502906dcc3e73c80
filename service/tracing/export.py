"""Export spans over OTLP/HTTP, from a bounded queue."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from threading import Lock
from typing import Final
from uuid import uuid4

from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import OTELResourceDetector, Resource
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import (
    BatchSpanProcessor,
    SpanExporter,
    SpanExportResult,
)
from prometheus_client import Counter

from service import __version__
from service.errors import ConfigError
from service.outages import Outage

# For a request with its retries, and so for the last one when the process ends.
EXPORT_S: Final = 5.0
QUEUE_MAX: Final = 2048
BATCH_MAX: Final = 512

DROPPED: Final = Counter(
    "agent_runtime_spans_dropped_total",
    "Spans of the service that were not exported: the queue was full, or the receiver "
    "didn't take them.",
    ["reason"],
)


logger = logging.getLogger(__name__)
_SDK_LOGGER: Final = logging.getLogger(OTLPSpanExporter.__module__)


@asynccontextmanager
async def exporting_spans(endpoint: str) -> AsyncIterator[TracerProvider]:
    """Yield what makes tracers; the last spans are exported when the block ends.

    The standard variables ``OTEL_EXPORTER_OTLP_*``, ``OTEL_BSP_*``, ``OTEL_TRACES_*``,
    ``OTEL_SERVICE_NAME`` and ``OTEL_RESOURCE_ATTRIBUTES`` count as well.

    :raises ConfigError: one of them can't be used
    """
    try:
        provider = _exporting_to(endpoint)
    except (ValueError, RuntimeError) as error:
        raise ConfigError(f"a variable OTEL_... can't be used: {error}") from None
    try:
        yield provider
    finally:
        await asyncio.to_thread(provider.shutdown)


def _exporting_to(endpoint: str) -> TracerProvider:
    own = {
        "service.name": "agent-runtime",
        "service.version": __version__,
        "service.instance.id": str(uuid4()),
    }
    provider = TracerProvider(
        resource=Resource.create(own).merge(OTELResourceDetector().detect()),
        shutdown_on_exit=False,
    )
    exporter = OTLPSpanExporter(endpoint=endpoint, timeout=EXPORT_S)
    provider.add_span_processor(BoundedProcessor(exporter))
    return provider


class BoundedProcessor(BatchSpanProcessor):
    """Drops and counts spans when the queue is full; the SDK would log each of them."""

    def __init__(self, exporter: SpanExporter) -> None:
        self._queue_max = _positive("OTEL_BSP_MAX_QUEUE_SIZE", QUEUE_MAX)
        self._queued = 0
        self._lock = Lock()
        batch_max = _positive("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", BATCH_MAX)
        super().__init__(
            _CountingExporter(exporter, self._taken),
            max_queue_size=self._queue_max,
            max_export_batch_size=min(batch_max, self._queue_max),
        )

    def on_end(self, span: ReadableSpan) -> None:
        with self._lock:
            has_room = self._queued < self._queue_max
            self._queued += has_room
        if has_room:
            super().on_end(span)
        else:
            DROPPED.labels("queue_full").inc()

    def _taken(self, spans: int) -> None:
        with self._lock:
            self._queued -= spans


class _CountingExporter(SpanExporter):
    """Tells how many spans have left the queue, and counts those that are lost.

    Of what the SDK logs of a receiver, each cause is let through once.
    """

    def __init__(self, exporter: SpanExporter, taken: Callable[[int], None]) -> None:
        self._exporter = exporter
        self._taken = taken
        self._outage = Outage()

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self._taken(len(spans))
        _SDK_LOGGER.addFilter(self._is_new)
        try:
            result = self._exporter.export(spans)
        finally:
            _SDK_LOGGER.removeFilter(self._is_new)
        if result is not SpanExportResult.SUCCESS:
            DROPPED.labels("export_failed").inc(len(spans))
        elif self._outage.has_ended():
            logger.info("spans are exported again")
        return result

    def shutdown(self) -> None:
        self._exporter.shutdown()

    def _is_new(self, record: logging.LogRecord) -> bool:
        """Filter the SDK's lines, whose numbers are times and whose texts vary."""
        if record.levelno < logging.WARNING:
            return True
        given = record.args if isinstance(record.args, tuple) else ()
        statuses = (each for each in given if isinstance(each, int))
        causes = (type(each) for each in given if isinstance(each, Exception))
        cause = (record.msg, *statuses, *causes)
        return self._outage.level(cause) >= logging.WARNING


def _positive(variable: str, default: int) -> int:
    given = os.environ.get(variable, "")
    return int(given) if given.isdecimal() and int(given) else default
