"""Switch instrumentations on, in their environment."""

# mypy: ignore-errors

import os
from importlib import import_module
from typing import Any

from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor

_INFERENCE = "openinference.instrumentation"
_TELEMETRY = "opentelemetry.instrumentation"
INSTRUMENTORS = {
    "openinference_openai": f"{_INFERENCE}.openai:OpenAI",
    "openinference_anthropic": f"{_INFERENCE}.anthropic:Anthropic",
    "openinference_google": f"{_INFERENCE}.google_genai:GoogleGenAI",
    "openinference_bedrock": f"{_INFERENCE}.bedrock:Bedrock",
    "openinference_langchain": f"{_INFERENCE}.langchain:LangChain",
    "openinference_litellm": f"{_INFERENCE}.litellm:LiteLLM",
    "openinference_agents": f"{_INFERENCE}.openai_agents:OpenAIAgents",
    "openllmetry_openai": f"{_TELEMETRY}.openai:OpenAI",
    "openllmetry_anthropic": f"{_TELEMETRY}.anthropic:Anthropic",
    "openllmetry_google": f"{_TELEMETRY}.google_generativeai:GoogleGenerativeAi",
    "openllmetry_bedrock": f"{_TELEMETRY}.bedrock:Bedrock",
    "openllmetry_langchain": f"{_TELEMETRY}.langchain:Langchain",
    "openllmetry_agents": f"{_TELEMETRY}.openai_agents:OpenAIAgents",
    "opentelemetry_openai": f"{_TELEMETRY}.genai.openai:OpenAI",
    "opentelemetry_anthropic": f"{_TELEMETRY}.genai.anthropic:Anthropic",
    "opentelemetry_langchain": f"{_TELEMETRY}.genai.langchain:LangChain",
    "opentelemetry_google": f"{_TELEMETRY}.google_genai:GoogleGenAiSdk",
}


def start(layers: tuple[str, ...], resource: Any, exporter: Any) -> Any:
    """Switch layers on for this process, and return the tracer provider."""
    os.environ["ANTHROPIC_OPEN_TELEMETRY"] = "false"
    os.environ["OTEL_SEMCONV_STABILITY_OPT_IN"] = "gen_ai_latest_experimental"
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    if any(layer.startswith("logfire") for layer in layers):
        provider = _logfire(layers, resource, exporter)
    else:
        provider = TracerProvider(resource=resource)
        if "openinference_pydantic_ai" in layers:
            module = import_module("openinference.instrumentation.pydantic_ai")
            provider.add_span_processor(module.OpenInferenceSpanProcessor())
        provider.add_span_processor(SimpleSpanProcessor(exporter))
        import_module("opentelemetry.trace").set_tracer_provider(provider)
    for layer in layers:
        _instrument(layer, provider)
    return provider


def _logfire(layers: tuple[str, ...], resource: Any, exporter: Any) -> Any:
    import logfire

    os.environ["OTEL_RESOURCE_ATTRIBUTES"] = ",".join(
        f"{key}={value}" for key, value in resource.attributes.items() if "." in key
    )
    logfire.configure(
        send_to_logfire=False,
        console=False,
        service_name="agent",
        inspect_arguments=False,
        scrubbing=None if "scrubbed" in layers else False,
        additional_span_processors=[SimpleSpanProcessor(exporter)],
    )
    return import_module("opentelemetry.trace").get_tracer_provider()


def _instrument(layer: str, provider: Any) -> None:
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
    elif layer == "logfire_openai":
        import_module("logfire").instrument_openai()
    elif layer == "logfire_anthropic":
        import_module("logfire").instrument_anthropic()
    elif "pydantic_ai" in layer:
        import_module("pydantic_ai").Agent.instrument_all()
