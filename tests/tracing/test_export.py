"""A bounded queue before the receiver, whatever that does."""

import subprocess
import sys
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
    exporting_spans,
)
from tests.otlp_receiver import receiver


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


def dropped(reason: str) -> float:
    return float(DROPPED.labels(reason)._value.get())  # noqa: SLF001


def test_what_the_queue_cannot_hold_is_dropped_and_counted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", "8")
    monkeypatch.setenv("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "4")
    full, failed = dropped("queue_full"), dropped("export_failed")

    with hanging() as (exporter, tracer):
        for _ in range(4):
            tracer.start_span("first").end()
        assert exporter.asked.wait(60)
        # The receiver hangs, and nobody waits for it.
        for _ in range(20):
            tracer.start_span("next").end()
        assert dropped("queue_full") - full == 20 - 8

    assert exporter.got == 4 + 8
    assert dropped("export_failed") - failed == exporter.got


@pytest.mark.parametrize("given", ["", "0", "-1", "many"])
def test_a_queue_size_that_is_none_is_the_default(
    monkeypatch: pytest.MonkeyPatch, given: str
) -> None:
    monkeypatch.setenv("OTEL_BSP_MAX_QUEUE_SIZE", given)
    before = dropped("queue_full")

    with hanging() as (exporter, tracer):
        for _ in range(512):
            tracer.start_span("first").end()
        assert exporter.asked.wait(60)
        for _ in range(QUEUE_MAX + 1):
            tracer.start_span("next").end()

    assert dropped("queue_full") - before == 1


async def test_the_process_is_named_as_the_standard_variables_say(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_SERVICE_NAME", "cell-7")
    monkeypatch.setenv("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test")

    async with receiver() as received, exporting_spans(received.url) as provider:
        provider.get_tracer("test").start_span("one").end()

    [body] = received.bodies
    assert b"cell-7" in body
    assert b"deployment.environment.name" in body


@pytest.mark.servers
async def test_a_receiver_that_is_down_costs_spans_alone() -> None:
    before = dropped("export_failed")
    async with receiver() as received:
        pass

    async with exporting_spans(received.url) as provider:
        provider.get_tracer("test").start_span("one").end()

    assert dropped("export_failed") - before == 1


@pytest.mark.processes
def test_the_sdk_is_not_imported_unless_it_is_used() -> None:
    code = (
        "import sys, service.serve; "
        "print(sorted({'.'.join(each.split('.')[:2]) for each in sys.modules "
        "if each.startswith(('opentelemetry.', 'requests'))}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    # The messages of trace ingest.
    assert done.stdout == "['opentelemetry.proto']\n"
