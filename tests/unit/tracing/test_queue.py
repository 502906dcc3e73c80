"""The bounded queue of spans."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.trace import Tracer

from service.tracing.export import (
    DROPPED,
    QUEUE_MAX,
    BoundedProcessor,
)
from tests.support.metrics import counted


class HangingExporter(SpanExporter):
    """Takes no further spans until it is let go, and refuses them then."""

    def __init__(self) -> None:
        self.may_answer = Event()
        self.asked = Event()
        self.got = 0

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        self.got += len(spans)
        self.asked.set()
        self.may_answer.wait(60)
        return SpanExportResult.FAILURE


@contextmanager
def hanging() -> Iterator[tuple[HangingExporter, Tracer]]:
    exporter = HangingExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(BoundedProcessor(exporter))
    yield exporter, provider.get_tracer("test")
    exporter.may_answer.set()
    provider.shutdown()


def test_what_the_queue_cannot_hold_is_dropped_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "8")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
    full, failed = (
        counted(DROPPED, reason="queue_full"),
        counted(DROPPED, reason="export_failed"),
    )

    with hanging() as (exporter, tracer):
        for _ in range(4):
            tracer.start_span("first").end()
        assert exporter.asked.wait(60)
        # The receiver hangs, and nobody waits for it.
        for _ in range(20):
            tracer.start_span("next").end()
        assert counted(DROPPED, reason="queue_full") - full == 20 - 8

    assert exporter.got == 4 + 8
    assert counted(DROPPED, reason="export_failed") - failed == exporter.got


@pytest.mark.parametrize("given", ["", "0", "-1", "many"])
def test_a_queue_size_that_is_none_is_the_default(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", given)
    before = counted(DROPPED, reason="queue_full")

    with hanging() as (exporter, tracer):
        for _ in range(512):
            tracer.start_span("first").end()
        assert exporter.asked.wait(60)
        for _ in range(QUEUE_MAX + 1):
            tracer.start_span("next").end()

    assert counted(DROPPED, reason="queue_full") - before == 1
