"""Run scenarios and write their spans, in the environment of the instrumentations."""

# mypy: ignore-errors

import base64
import json
import os
import signal
import socket
import sys
import traceback
from importlib import import_module
from importlib.metadata import distributions
from pathlib import Path
from typing import Any

from google.protobuf.json_format import MessageToDict
from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from tests.instruments.costs.instrumentations.cases import ANSWERS, QUESTIONS
from tests.instruments.costs.instrumentations.clients import CLIENTS
from tests.instruments.costs.instrumentations.layers import start
from tests.instruments.costs.instrumentations.provider import running_provider
from tests.instruments.costs.instrumentations.scenarios import SCENARIOS, Scenario

ID_FIELDS = ("traceId", "spanId", "parentSpanId")
AGENT_ID = "6f2d2f4e-94a2-4a2e-8a52-3b0c6f4b8a10"
FLUSH_MS = 10_000
TIMEOUT_S = 300
# What to import before processes are forked, by how a client's name begins.
PRELOADED = {
    "openai": "openai",
    "responses": "openai",
    "anthropic": "anthropic",
    "google": "google.genai",
    "bedrock": "boto3",
    "langchain_openai": "langchain_openai",
    "langchain_responses": "langchain_openai",
    "langchain_anthropic": "langchain_anthropic",
    "langchain_google": "langchain_google_genai",
    "langgraph": "langchain.agents",
    "agents": "agents",
    "litellm": "litellm",
    "pydantic_ai": "pydantic_ai",
}
# Whose versions a recording names.
TOLD = (
    *("openai", "anthropic", "google-genai", "boto3", "lang", "litellm", "logfire"),
    *("openinference", "opentelemetry-instrumentation", "pydantic-ai"),
)


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
    os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "false"
    os.environ["AWS_EC2_METADATA_DISABLED"] = "true"


def main(folder: str, *names: str) -> None:
    """Run scenarios, each in a process of its own: what they patch stays patched."""
    stay_on_loopback()
    chosen = [each for each in SCENARIOS if each.name in names]
    # Once for all: the imports take longer than all the rest.
    for client in {each.client for each in chosen}:
        import_module(next(m for c, m in PRELOADED.items() if client.startswith(c)))
    failed = 0
    for scenario in chosen:
        process = os.fork()
        if process == 0:
            _run_and_exit(scenario, Path(folder) / f"{scenario.name}.json")
        _, status = os.waitpid(process, 0)
        failed += bool(status)
    sys.exit(failed)


def _run_and_exit(scenario: Scenario, to: Path) -> None:
    failed = 0
    signal.alarm(TIMEOUT_S)
    found = {"packages": packages(), "sessions": {}}
    try:
        exporter = InMemorySpanExporter()
        resource = Resource(
            {"agent_runtime.agent_id": AGENT_ID, "service.name": "agent"}
        )
        tracers = start(scenario.layers, resource, exporter)
        with running_provider() as (url, script):
            for case in scenario.cases:
                try:
                    found["sessions"][case] = _session(
                        scenario, case, url, script, tracers, exporter
                    )
                except Exception:  # noqa: BLE001 # it is printed
                    sys.stderr.write(f"{scenario.name} {case} failed\n")
                    traceback.print_exc()
                    failed = 1
            to.write_text(json.dumps(found))
            # Without waiting for LiteLLM's threads, which don't end.
            os._exit(failed)
    except BaseException:  # noqa: BLE001 # it is printed
        sys.stderr.write(f"{scenario.name} failed\n")
        traceback.print_exc()
        os._exit(1)


def _session(
    scenario: Scenario, case: str, url: str, script: Any, tracers: Any, exporter: Any
) -> Any:
    exporter.clear()
    script.begin(case)
    for number, question in enumerate(QUESTIONS):
        script.turn = number
        with trace.get_tracer("agent").start_as_current_span("turn") as turn:
            turn.set_attribute("session.id", "chat")
            ask = CLIENTS[scenario.client]
            answer = ask(url, case, question, stream=number == 1)
        assert answer == ANSWERS[number], answer
    if scenario.client.startswith("litellm"):
        _wait_for_litellm()
    tracers.force_flush(FLUSH_MS)
    export = MessageToDict(encode_spans(exporter.get_finished_spans()))
    for resource in export["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            for span in scope["spans"]:
                for field in ID_FIELDS:
                    if field in span:
                        span[field] = base64.b64decode(span[field]).hex()
    return {"answers": script.answers, "export": export}


def _wait_for_litellm() -> None:
    """Wait until LiteLLM, which calls back from threads, has written its spans."""
    from concurrent.futures import wait

    import litellm.litellm_core_utils.thread_pool_executor as pool

    wait([pool.executor.submit(int) for _ in range(64)])


def packages() -> dict[str, str]:
    """Return the packages of this environment and their versions."""
    return {
        each.name: each.version
        for each in sorted(distributions(), key=lambda each: each.name)
        if each.name.startswith(TOLD)
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
