"""The names of OpenInference and of the GenAI conventions, in their versions."""

from collections.abc import Mapping
from typing import Final

from service.sessions.otlp.instrumentation import Instrumentation, Keys

# Further parts of the usage, by the names of service.price_catalog.usage.
DETAILS: Final[Mapping[str, Keys]] = {
    "cache_write_5m_tokens": (
        "anthropic.usage.cache_creation.ephemeral_5m_input_tokens",
        "gen_ai.usage.details.ephemeral_5m_input_tokens",
    ),
    "cache_write_1h_tokens": (
        "anthropic.usage.cache_creation.ephemeral_1h_input_tokens",
        "gen_ai.usage.details.ephemeral_1h_input_tokens",
    ),
    "input_audio_tokens": (
        "llm.token_count.prompt_details.audio",
        "gen_ai.usage.audio.input_tokens",
        "gen_ai.usage.details.input_audio_tokens",
    ),
    "output_audio_tokens": (
        "llm.token_count.completion_details.audio",
        "gen_ai.usage.audio.output_tokens",
        "gen_ai.usage.details.output_audio_tokens",
    ),
    "cache_audio_read_tokens": (
        "gen_ai.usage.audio.cache_read.input_tokens",
        "gen_ai.usage.details.cache_audio_read_tokens",
    ),
    "input_image_tokens": ("gen_ai.usage.image.input_tokens",),
    "output_image_tokens": ("gen_ai.usage.image.output_tokens",),
    "cache_image_read_tokens": ("gen_ai.usage.image.cache_read.input_tokens",),
    "output_reasoning_tokens": (
        "llm.token_count.completion_details.reasoning",
        "gen_ai.usage.reasoning.output_tokens",
        "gen_ai.usage.reasoning_tokens",
        "llm.usage.reasoning_tokens",
        "gen_ai.usage.output_reasoning_tokens",
        "gen_ai.usage.output_tokens.reasoning",
        "gen_ai.usage.thoughts_tokens",
        "gen_ai.usage.thoughts_token_count",
        "gen_ai.usage.details.reasoning_tokens",
        "gen_ai.usage.details.thinking_tokens",
        "gen_ai.usage.details.thoughts_tokens",
    ),
    "web_searches": ("gen_ai.usage.details.web_search_requests",),
}
GENERAL: Final = Instrumentation(
    name="the conventions",
    details=DETAILS,
    documents=("output.value",),
    parameters=("llm.invocation_parameters",),
)
