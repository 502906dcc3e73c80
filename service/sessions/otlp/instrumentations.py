"""The table of the instrumentations: one row for each, found by its scope.

A scope without a row is read by ``GENERAL``, the names of OpenInference and of the
GenAI conventions in their versions. A new instrumentation is a row here, and a
recording in ``tests/instruments/costs``.
"""

from dataclasses import replace
from typing import Final

from service.sessions.otlp.agent_programs import PROGRAMS
from service.sessions.otlp.general import GENERAL
from service.sessions.otlp.instrumentation import (
    AUDIO,
    MODEL,
    OUTPUT,
    READS,
    SEARCHES,
    TIER,
    WRITES,
    WRITES_1H,
    Instrumentation,
)

_GEN_AI_TOOLS: Final = ("gen_ai.tool.definitions",)
# With a number after it.
_INFERENCE_TOOLS: Final = ("llm.tools.",)
_INFERENCE: Final = replace(GENERAL, tools=_INFERENCE_TOOLS)

ROWS: Final = (
    replace(
        _INFERENCE,
        name="OpenInference openai",
        scopes=("openinference.instrumentation.openai",),
    ),
    replace(
        _INFERENCE,
        name="OpenInference anthropic",
        scopes=("openinference.instrumentation.anthropic",),
    ),
    replace(
        _INFERENCE,
        name="OpenInference google-genai",
        scopes=("openinference.instrumentation.google_genai",),
        tells_tools=True,
    ),
    replace(
        _INFERENCE,
        name="OpenInference bedrock",
        scopes=("openinference.instrumentation.bedrock",),
    ),
    replace(
        _INFERENCE,
        name="OpenInference langchain",
        scopes=("openinference.instrumentation.langchain",),
        tells_tools=True,
        untold=(TIER, SEARCHES, WRITES_1H, READS),
    ),
    replace(
        _INFERENCE,
        name="OpenInference openai-agents",
        scopes=("openinference.instrumentation.openai_agents",),
        tells_tools=True,
        untold=(TIER, SEARCHES, WRITES_1H, READS),
    ),
    replace(
        _INFERENCE,
        name="OpenInference litellm",
        scopes=("openinference.instrumentation.litellm",),
    ),
    replace(
        GENERAL,
        name="OpenTelemetry openai",
        scopes=("opentelemetry.instrumentation.genai.openai",),
        tools=_GEN_AI_TOOLS,
        tells_tools=True,
        search_items=("gen_ai.output.messages",),
    ),
    replace(
        GENERAL,
        name="OpenTelemetry anthropic",
        scopes=("opentelemetry.instrumentation.genai.anthropic",),
        tools=_GEN_AI_TOOLS,
        tells_tools=True,
    ),
    replace(
        GENERAL,
        name="OpenTelemetry google-genai",
        scopes=("opentelemetry.instrumentation.google_genai",),
        tools=_GEN_AI_TOOLS,
        tells_tools=True,
    ),
    replace(
        GENERAL,
        name="OpenTelemetry langchain",
        scopes=("opentelemetry.instrumentation.genai.langchain",),
        untold=(TIER, SEARCHES, WRITES_1H, READS),
    ),
    replace(
        GENERAL,
        name="OpenLLMetry openai",
        scopes=("opentelemetry.instrumentation.openai.v1",),
        tools=_GEN_AI_TOOLS,
        untold=(TIER, SEARCHES, WRITES_1H, AUDIO),
    ),
    replace(
        GENERAL,
        name="OpenLLMetry anthropic",
        scopes=("opentelemetry.instrumentation.anthropic",),
        tools=_GEN_AI_TOOLS,
        tells_tools=True,
        wrong_in_streams=(OUTPUT,),
    ),
    replace(
        GENERAL,
        name="OpenLLMetry google",
        scopes=("opentelemetry.instrumentation.google_generativeai",),
        tools=_GEN_AI_TOOLS,
        tells_tools=True,
        output_from_total=True,
        untold=(TIER, SEARCHES, AUDIO),
    ),
    replace(
        GENERAL,
        name="OpenLLMetry bedrock",
        scopes=("opentelemetry.instrumentation.bedrock",),
        caches="outside",
        # It cuts the region off the model's name.
        untold=(TIER, SEARCHES, WRITES_1H, MODEL),
    ),
    replace(
        GENERAL,
        name="OpenLLMetry langchain",
        scopes=("opentelemetry.instrumentation.langchain",),
        tools=_GEN_AI_TOOLS,
        tells_tools=True,
        untold=(TIER, SEARCHES, WRITES_1H, READS),
        zero_is_untold=(WRITES, WRITES_1H),
    ),
    replace(
        GENERAL,
        name="OpenLLMetry openai-agents",
        scopes=("opentelemetry.instrumentation.openai_agents",),
        tools=_GEN_AI_TOOLS,
        tells_tools=True,
        untold=(TIER, SEARCHES, WRITES_1H, READS),
    ),
    replace(
        GENERAL,
        name="Anthropic's SDK",
        scopes=("com.anthropic.sdk.python",),
        tools=_GEN_AI_TOOLS,
    ),
    replace(
        GENERAL,
        name="logfire",
        scopes=("logfire.",),
        documents=("gen_ai.usage.raw",),
        tools=_GEN_AI_TOOLS,
        tells_tools=True,
        stream_log=("logfire.span_type", "log"),
    ),
    replace(
        GENERAL,
        name="pydantic-ai",
        scopes=("pydantic-ai",),
        tools=_GEN_AI_TOOLS,
    ),
    replace(
        GENERAL,
        name="LiteLLM",
        scopes=("litellm",),
        python_documents=("metadata.usage_object",),
    ),
    replace(
        GENERAL,
        name="AI SDK 6",
        scopes=("ai",),
        kind=("ai.operationId",),
        calls=(".doGenerate", ".doStream", ".doEmbed", ".doRerank"),
        prompt=("gen_ai.usage.input_tokens", "ai.usage.inputTokens"),
        completion=("gen_ai.usage.output_tokens", "ai.usage.outputTokens"),
        total=("ai.usage.totalTokens",),
        cache_read=(
            "ai.usage.inputTokenDetails.cacheReadTokens",
            "ai.usage.cachedInputTokens",
        ),
        cache_creation=("ai.usage.inputTokenDetails.cacheWriteTokens",),
        details={
            "output_reasoning_tokens": (
                "ai.usage.outputTokenDetails.reasoningTokens",
                "ai.usage.reasoningTokens",
            ),
        },
        documents=("ai.response.providerMetadata",),
        tools=("ai.prompt.tools",),
        tells_tools=True,
        search_items=("ai.response.toolCalls",),
        session=(*GENERAL.session, "ai.telemetry.metadata.sessionId"),
        user=(*GENERAL.user, "ai.telemetry.metadata.userId"),
        inputs=("ai.prompt", "ai.prompt.messages"),
        outputs=("ai.response.text",),
        caches="inside",
        untold=(TIER, SEARCHES, WRITES_1H, AUDIO),
    ),
    replace(
        GENERAL,
        name="AI SDK 7",
        scopes=("gen_ai",),
        tools=_GEN_AI_TOOLS,
        tells_tools=True,
        caches="inside",
        untold=(TIER, SEARCHES, WRITES_1H, AUDIO),
    ),
    *PROGRAMS,
)
# With these at its end, a scope is a prefix.
PREFIXES: Final = (".", "_")
_BY_SCOPE: Final = {
    scope: row for row in ROWS for scope in row.scopes if not scope.endswith(PREFIXES)
}
_BY_PREFIX: Final = tuple(
    (scope, row) for row in ROWS for scope in row.scopes if scope.endswith(PREFIXES)
)


def instrumentation_of(scope: str) -> Instrumentation:
    """Return the row of a scope."""
    found = _BY_SCOPE.get(scope)
    if found is not None:
        return found
    for prefix, row in _BY_PREFIX:
        if scope.startswith(prefix):
            return row
    return GENERAL
