"""Real clients: the OpenTelemetry SDK, and an instrumentor of OpenInference."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import httpx2
import pytest
from openai import OpenAI
from openinference.instrumentation import using_session
from openinference.instrumentation.openai import OpenAIInstrumentor
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Status, StatusCode

from service.resources import Resources
from tests.support.callers import Caller
from tests.support.sessions.recording import Recorder

MODEL = "gpt-4o-mini-2024-07-18"
ANSWER = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1_772_000_000,
    "model": MODEL,
    "choices": [
        {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": "Two are due today."},
        }
    ],
    "usage": {
        "prompt_tokens": 1200,
        "completion_tokens": 80,
        "total_tokens": 1280,
        "prompt_tokens_details": {"cached_tokens": 200},
    },
}
Provided = Callable[..., TracerProvider]


@pytest.fixture
def provided(recorder: Recorder) -> Iterator[Provided]:
    """Set up OpenTelemetry as an agent does: an endpoint, a token and a resource."""
    made = []

    def provide(**options: Any) -> TracerProvider:
        provider = TracerProvider(
            resource=Resource.create(
                {
                    "service.name": "helper",
                    "agent_runtime.agent_id": recorder.agent_id,
                }
            )
        )
        exporter = OTLPSpanExporter(
            endpoint=str(recorder.caller.client.make_url("/v1/traces")),
            headers={"Authorization": f"Bearer {recorder.caller.token}"},
            **options,
        )
        provider.add_span_processor(BatchSpanProcessor(exporter))
        made.append(provider)
        return provider

    yield provide
    for provider in made:
        provider.shutdown()


async def flushed(provider: TracerProvider) -> None:
    assert await asyncio.to_thread(provider.force_flush, 10_000)


async def shown(resources: Resources, by: Caller, session_id: str) -> Any:
    head = await resources.log.head()
    reply = await by.get(
        f"/api/observability/session/{session_id}", X_Min_Position=str(head.position)
    )
    assert reply.status == 200, reply.data
    return reply.data


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
async def test_the_sdk_with_the_genai_conventions(
    resources: Resources, provided: Provided, ada: Caller, compression: Compression
) -> None:
    provider = provided(compression=compression)
    tracer = provider.get_tracer("test")

    with tracer.start_as_current_span("invoke_agent helper") as run:
        run.set_attribute("gen_ai.operation.name", "invoke_agent")
        run.set_attribute("gen_ai.conversation.id", "chat")
        run.set_attribute(
            "gen_ai.input.messages",
            '[{"role": "user", "content": "What is due?"}]',
        )
        with tracer.start_as_current_span("chat gpt-4o-mini") as call:
            call.set_attribute("gen_ai.operation.name", "chat")
            call.set_attribute("gen_ai.provider.name", "openai")
            call.set_attribute("gen_ai.request.model", "gpt-4o-mini")
            call.set_attribute("gen_ai.usage.input_tokens", 1200)
            call.set_attribute("gen_ai.usage.output_tokens", 80)
        run.set_status(Status(StatusCode.ERROR, "the tracker is down"))
    await flushed(provider)

    found = await shown(resources, ada, "chat")
    [turn] = found["turns"]
    assert turn["trace_id"] == f"{run.get_span_context().trace_id:032x}"
    assert (turn["provider"], turn["model"]) == ("openai", "gpt-4o-mini")
    assert (turn["input"], turn["error"]) == ("What is due?", "the tracker is down")
    assert turn["is_error"]
    assert found["token_usage"]["total"] == 1280
    assert found["num_traces_with_error"] == 1


async def test_openai_as_openinference_sees_it(
    resources: Resources, provided: Provided, ada: Caller, callers: Any
) -> None:
    root = await callers.user("root", "superuser")
    await root.post("/api/llm-router/providers", {"key": "openai", "display_name": "O"})
    await root.post(
        "/api/llm-router/prices",
        {
            "provider": "openai",
            "model": "gpt-4o-mini",
            "input_price_per_1m": "0.15",
            "cache_read_price_per_1m": "0.075",
            "output_price_per_1m": "0.6",
            "effective_from": "2026-01-01T00:00:00Z",
        },
    )
    provider = provided()
    instrumentor = OpenAIInstrumentor()
    instrumentor.instrument(tracer_provider=provider)
    answers = httpx2.MockTransport(lambda _: httpx2.Response(200, json=ANSWER))
    model = OpenAI(api_key="none", http_client=httpx2.Client(transport=answers))
    create: Any = model.chat.completions.create
    try:
        with using_session("chat"):
            await asyncio.to_thread(
                create,
                model="gpt-4o-mini",
                messages=[{"role": "user", "content": "What is due?"}],
            )
    finally:
        instrumentor.uninstrument()
        model.close()
    await flushed(provider)

    found = await shown(resources, ada, "chat")
    [turn] = found["turns"]
    assert (turn["provider"], turn["model"]) == ("openai", MODEL)
    assert turn["token_usage"] == {
        "total": 1280,
        "prompt": 1200,
        "completion": 80,
        "cache_read": 200,
        "cache_creation": None,
    }
    # The catalog knows the model by the name that was asked for.
    assert turn["cost"] == 0.000213
    assert (turn["priced_as"], turn["pricing_rule"]) == ("openai/gpt-4o-mini", "name")
    assert (turn["input"], turn["output"]) == ("What is due?", "Two are due today.")
