"""Run scenarios and write their spans as OTLP's JSON.

Runs in the environment of the instrumentations.
"""

# mypy: ignore-errors

import base64
import json
import os
import signal
import socket
import sys
import traceback
from importlib import import_module
from importlib.metadata import distribution, version
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.instruments.instrumentations.clients import CLIENTS
from tests.instruments.instrumentations.layers import instrument, processors
from tests.instruments.instrumentations.provider import ANSWERS, running_provider
from tests.instruments.instrumentations.scenarios import SCENARIOS, Scenario

ID_FIELDS = ("traceId", "spanId", "parentSpanId")
AGENT_ID = "6f2d2f4e-94a2-4a2e-8a52-3b0c6f4b8a10"
FLUSH_MS = 10_000
TIMEOUT_S = 120
# By the client that needs it.
PRELOADED = {
    "openai": "openai",
    "anthropic": "anthropic",
    "langchain_openai": "langchain_openai",
    "langchain_anthropic": "langchain_anthropic",
    "litellm": "litellm",
    "pydantic_ai": "pydantic_ai.models.openai",
    "by_hand": "httpx",
}


def stay_on_loopback() -> None:
    """Refuse to resolve the names of other hosts, which some packages would call."""
    resolve = socket.getaddrinfo

    def resolve_loopback(host: Any, *args: Any, **options: Any) -> Any:
        if host not in ("127.0.0.1", "localhost", None):
            raise OSError("only loopback")
        return resolve(host, *args, **options)

    socket.getaddrinfo = resolve_loopback
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ["LANGSMITH_TRACING"] = "false"


def main(folder: str, *names: str) -> None:
    """Run scenarios, each in a process of its own: what they patch stays patched.

    The processes are forked, since the imports take longer than all the rest.
    """
    stay_on_loopback()
    chosen = [each for each in SCENARIOS if each.name in names]
    for client in {scenario.client for scenario in chosen}:
        import_module(PRELOADED[client])
    failed = 0
    for scenario in chosen:
        name = scenario.name
        process = os.fork()
        if process == 0:
            _run_and_exit(scenario, Path(folder) / f"{name}.json")
        _, status = os.waitpid(process, 0)
        if status:
            sys.stderr.write(f"{name} failed\n")
            failed += 1
    sys.exit(failed)


def _run_and_exit(scenario: Scenario, to: Path) -> None:
    try:
        signal.alarm(TIMEOUT_S)
        to.write_text(json.dumps(run(scenario)))
    except Exception:  # noqa: BLE001 # it is printed
        traceback.print_exc()
        os._exit(1)
    # Without waiting for LiteLLM's threads, which don't end.
    os._exit(0)


def run(scenario: Scenario) -> Any:
    """Return a scenario's spans in OTLP's JSON, and the versions of its packages."""
    provider = TracerProvider(
        resource=Resource({"agent_runtime.agent_id": AGENT_ID, "service.name": "agent"})
    )
    exporter = InMemorySpanExporter()
    trace.set_tracer_provider(provider)
    for layer in scenario.layers:
        for processor in processors(layer):
            provider.add_span_processor(processor)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    for layer in scenario.layers:
        instrument(layer, provider)
    with running_provider() as url:
        for number, question in enumerate(ANSWERS):
            with trace.get_tracer("agent").start_as_current_span("turn") as turn:
                turn.set_attribute("session.id", "chat")
                answer = CLIENTS[scenario.client](url, question, stream=number == 1)
            assert answer == ANSWERS[question], answer
    if scenario.client == "litellm":
        _wait_for_litellm()
    provider.force_flush(FLUSH_MS)
    spans = MessageToDict(encode_spans(exporter.get_finished_spans()))
    for span in _spans(spans):
        for field in ID_FIELDS:
            if field in span:
                span[field] = base64.b64decode(span[field]).hex()
    return {"packages": packages(scenario), "export": spans}


def _wait_for_litellm() -> None:
    """Wait until LiteLLM, which calls back from threads, has written its spans."""
    from litellm.litellm_core_utils.thread_pool_executor import executor

    executor.shutdown(wait=True)


def _spans(export: Any) -> Any:
    for resource in export["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


DISTRIBUTIONS = {
    "openai": "openai",
    "anthropic": "anthropic",
    "langchain_openai": "langchain-openai",
    "langchain_anthropic": "langchain-anthropic",
    "litellm": "litellm",
    "pydantic_ai": "pydantic-ai-slim",
    "by_hand": "opentelemetry-util-genai",
    "opentelemetry_util_genai": "opentelemetry-util-genai",
    "openinference_openai": "openinference-instrumentation-openai",
    "openinference_anthropic": "openinference-instrumentation-anthropic",
    "openinference_langchain": "openinference-instrumentation-langchain",
    "openinference_litellm": "openinference-instrumentation-litellm",
    "openinference_pydantic_ai": "openinference-instrumentation-pydantic-ai",
    "openllmetry_openai": "opentelemetry-instrumentation-openai",
    "openllmetry_anthropic": "opentelemetry-instrumentation-anthropic",
    "openllmetry_langchain": "opentelemetry-instrumentation-langchain",
    "opentelemetry_openai": "opentelemetry-instrumentation-genai-openai",
    "opentelemetry_anthropic": "opentelemetry-instrumentation-genai-anthropic",
    "opentelemetry_langchain": "opentelemetry-instrumentation-genai-langchain",
}


def packages(scenario: Scenario) -> dict[str, str]:
    """Return the packages of a scenario and their versions."""
    names = sorted(
        {DISTRIBUTIONS[each] for each in (scenario.client, *scenario.layers)}
    )
    return {distribution(name).name: version(name) for name in names}


if __name__ == "__main__":
    main(*sys.argv[1:])
