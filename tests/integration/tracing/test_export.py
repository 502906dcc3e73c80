"""A bounded queue before the receiver, whatever that does."""

import subprocess
import sys

import pytest

from service.errors import ConfigError
from service.tracing.export import (
    DROPPED,
    exporting_spans,
)
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


def test_the_sdk_is_imported_only_when_it_is_used() -> None:
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
