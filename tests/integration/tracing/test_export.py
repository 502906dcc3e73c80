"""A bounded queue before the receiver, whatever that does."""

import asyncio
import logging
import subprocess
import sys

import pytest

from service import outages
from service.errors import ConfigError
from service.tracing.export import (
    DROPPED,
    exporting_spans,
)
from tests.support.harness.process import refusing_port
from tests.support.metrics import counted
from tests.support.otlp_receiver import receiver


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


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("OTEL_BSP_SCHEDULE_DELAY", "-1", "schedule_delay"),
        ("OTEL_PYTHON_EXPORTER_OTLP_HTTP_CREDENTIAL_PROVIDER", "x", "'x' not found"),
    ],
)
async def test_a_variable_that_the_sdk_refuses_is_a_wrong_setting(
    monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    monkeypatch.setenv(variable, value)

    with pytest.raises(ConfigError, match=rf"OTEL_\.\.\. can't be used: .*{words}"):
        async with exporting_spans("http://127.0.0.1:9/v1/traces"):
            pass


async def test_the_endpoint_is_that_of_the_setting(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://127.0.0.1:9")

    async with receiver() as received, exporting_spans(received.url) as provider:
        provider.get_tracer("test").start_span("one").end()

    assert len(received.bodies) == 1


async def test_a_receiver_that_is_down_costs_spans_alone() -> None:
    before = counted(DROPPED, reason="export_failed")
    async with receiver() as received:
        pass

    async with exporting_spans(received.url) as provider:
        provider.get_tracer("test").start_span("one").end()

    assert counted(DROPPED, reason="export_failed") - before == 1


async def test_a_receiver_that_stays_down_is_told_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "0.2")
    before = counted(DROPPED, reason="export_failed")
    with refusing_port() as port:
        async with exporting_spans(f"http://127.0.0.1:{port}/v1/traces") as provider:
            for _ in range(3):
                provider.get_tracer("test").start_span("one").end()
                await asyncio.to_thread(provider.force_flush)

    assert counted(DROPPED, reason="export_failed") - before == 3
    sdk = [each for each in caplog.records if each.name.startswith("opentelemetry")]
    assert sdk
    assert len({each.msg for each in sdk}) == len(sdk)


async def test_the_end_of_an_outage_is_told_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level(logging.INFO, "service.tracing.export")
    async with receiver() as received, exporting_spans(received.url) as sent:
        for status in (500, 200, 200):
            received.status = status
            monkeypatch.setattr(outages, "CALM_S", 0.0)
            sent.get_tracer("test").start_span("one").end()
            await asyncio.to_thread(sent.force_flush)

    own = [each for each in caplog.records if each.name == "service.tracing.export"]
    assert [each.message for each in own] == ["spans are exported again"]


def test_the_sdk_is_imported_only_when_it_is_used() -> None:
    code = (
        "import sys, service.app, service.serve; service.app.operations(); "
        "print(sorted({'.'.join(each.split('.')[:2]) for each in sys.modules "
        "if each.startswith(('opentelemetry.', 'requests'))}))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    # The messages of trace ingest.
    assert done.stdout == "['opentelemetry.proto']\n"
