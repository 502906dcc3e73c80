"""Switch instrumentations on. Runs in their environment, see record.py."""

# mypy: ignore-errors

import os
from importlib import import_module
from typing import Any

INSTRUMENTORS = {
    "openinference_openai": "openinference.instrumentation.openai:OpenAI",
    "openinference_anthropic": "openinference.instrumentation.anthropic:Anthropic",
    "openinference_langchain": "openinference.instrumentation.langchain:LangChain",
    "openinference_litellm": "openinference.instrumentation.litellm:LiteLLM",
    "openllmetry_openai": "opentelemetry.instrumentation.openai:OpenAI",
    "openllmetry_anthropic": "opentelemetry.instrumentation.anthropic:Anthropic",
    "openllmetry_langchain": "opentelemetry.instrumentation.langchain:Langchain",
    "opentelemetry_openai": "opentelemetry.instrumentation.genai.openai:OpenAI",
    "opentelemetry_anthropic": (
        "opentelemetry.instrumentation.genai.anthropic:Anthropic"
    ),
    "opentelemetry_langchain": (
        "opentelemetry.instrumentation.genai.langchain:LangChain"
    ),
}


def instrument(layer: str, provider: Any) -> None:
    """Switch on one instrumentation for this process."""
    os.environ.setdefault("ANTHROPIC_OPEN_TELEMETRY", "false")
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    if layer in INSTRUMENTORS:
        module, name = INSTRUMENTORS[layer].split(":")
        instrumentor = getattr(import_module(module), f"{name}Instrumentor")()
        instrumentor.instrument(tracer_provider=provider)
    elif layer == "anthropic":
        os.environ["ANTHROPIC_OPEN_TELEMETRY"] = "true"
        os.environ["ANTHROPIC_OPEN_TELEMETRY_TRACES_CONTENT_MODE"] = "content"
    elif layer == "litellm":
        # Otherwise it adds attributes to the current span, which may have ended.
        os.environ["USE_OTEL_LITELLM_REQUEST_SPAN"] = "true"
        import_module("litellm").callbacks = ["otel"]
    elif "pydantic_ai" in layer:
        import_module("pydantic_ai").Agent.instrument_all()


def processors(layer: str) -> list[Any]:
    """Return the span processors of an instrumentation that rewrites spans."""
    if layer != "openinference_pydantic_ai":
        return []
    module = import_module("openinference.instrumentation.pydantic_ai")
    return [module.OpenInferenceSpanProcessor()]
