"""Read a model call from a span's attributes.

The names are those of OpenInference, of the GenAI conventions in their versions, of
OpenLLMetry, LiteLLM, pydantic-ai and Anthropic's SDK.
"""

import hashlib
import re
from collections.abc import Mapping
from typing import Any, Final

import orjson

from service.sessions.ids import ID_PATTERN
from service.sessions.otlp.attributes import (
    Attributes,
    amount,
    first_amount,
    first_count,
    first_text,
)
from service.sessions.otlp.span import ModelCall

PROVIDER: Final = (
    "llm.provider",
    "llm.system",
    "gen_ai.provider.name",
    "gen_ai.system",
)
MODEL: Final = (
    "llm.model_name",
    "embedding.model_name",
    "reranker.model_name",
    "gen_ai.response.model",
    "gen_ai.request.model",
)
ASKED_MODEL: Final = ("gen_ai.request.model", "llm.request.model_name")
RESPONSE_ID: Final = ("gen_ai.response.id", "llm.response.id")
PROMPT: Final = (
    "llm.token_count.prompt",
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
)
COMPLETION: Final = (
    "llm.token_count.completion",
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
)
TOTAL: Final = (
    "llm.token_count.total",
    "gen_ai.usage.total_tokens",
    "llm.usage.total_tokens",
)
CACHE_READ: Final = (
    "llm.token_count.prompt_details.cache_read",
    "gen_ai.usage.cache_read.input_tokens",
    "gen_ai.usage.cache_read_input_tokens",
)
CACHE_CREATION: Final = (
    "llm.token_count.prompt_details.cache_write",
    "gen_ai.usage.cache_write.input_tokens",
    "gen_ai.usage.cache_creation.input_tokens",
    "gen_ai.usage.cache_creation_input_tokens",
)
# By the names of service.price_catalog.usage.CallUsage: further parts of the tokens.
DETAILS: Final[Mapping[str, tuple[str, ...]]] = {
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
        "gen_ai.usage.details.reasoning_tokens",
    ),
}
SERVICE_TIER: Final = (
    "openai.response.service_tier",
    "gen_ai.openai.response.service_tier",
    "anthropic.response.service_tier",
)
# In US dollars.
REPORTED_COST: Final = (
    "llm.cost.total",
    "gen_ai.usage.cost",
    "gen_ai.cost.total_cost",
    "litellm.cost.total",
    "operation.cost",
)
# Kinds of spans that are themselves a model call.
CALL_KINDS: Final = frozenset({"LLM", "EMBEDDING", "RERANKER"})
CALL_OPERATIONS: Final = frozenset(
    {"chat", "text_completion", "generate_content", "embeddings", "rerank"}
)
CALL_TYPES: Final = frozenset({"chat", "completion", "embedding", "rerank"})
# Calls that write no text, so that they have no output tokens.
WITHOUT_OUTPUT: Final = frozenset(
    {"EMBEDDING", "RERANKER", "embeddings", "embedding", "rerank"}
)

# In the text of a Python dict.
LITELLM_CACHED: Final = re.compile(r"'cached_tokens': (?P<count>\d{1,12})\b")

_CLIENT_ID: Final = re.compile(ID_PATTERN)


def client_id(text: str | None) -> str | None:
    """Return a name, or None if it can't be recorded."""
    text = (text or "").strip()
    return text if _CLIENT_ID.fullmatch(text) else None


def _stored(text: str) -> str:
    """Return a text as it is stored: its digest, if it is too long or not printable."""
    if not text:
        return text
    return client_id(text) or hashlib.sha256(text.encode()).hexdigest()


def kind_of(found: Attributes) -> str | None:
    """Return what a span is: OpenInference's kind, or the name of an operation."""
    kind = first_text(found, "openinference.span.kind")
    if kind is not None:
        return kind.upper()
    return first_text(found, "gen_ai.operation.name", "llm.request.type")


def model_call(found: Attributes, *, scope: str, is_error: bool) -> ModelCall | None:
    """Return the model call of a span, or None if it isn't one.

    A span with token counts is one. Without counts, it is a call whose usage is
    unknown; unless it failed without an answer, which no provider charges.
    """
    kind = kind_of(found)
    is_call = kind in CALL_KINDS or kind in CALL_OPERATIONS or kind in CALL_TYPES
    prompt = first_count(found, *PROMPT)
    completion = first_count(found, *COMPLETION)
    answer = _answer(found) if is_call else {}
    response_id = first_text(found, *RESPONSE_ID) or _text(answer.get("id"))
    if prompt is None and completion is None:
        if not is_call or (is_error and response_id is None):
            return None
    elif completion is None and kind in WITHOUT_OUTPUT:
        completion = 0
    cache_read = first_count(found, *CACHE_READ)
    if cache_read is None:
        cache_read = _litellm_cached(found)
    cache_creation = first_count(found, *CACHE_CREATION)
    if prompt is None:
        cache_read = cache_creation = None
    else:
        cached = (cache_read or 0) + (cache_creation or 0)
        total = first_count(found, *TOTAL)
        # Some providers don't include cached tokens in the input.
        if cached > prompt or (cached and total == prompt + cached + (completion or 0)):
            prompt += cached
    return ModelCall(
        provider=client_id(first_text(found, *PROVIDER)),
        model=client_id(first_text(found, *MODEL)),
        asked_model=client_id(_asked_model(found)),
        prompt_tokens=prompt,
        completion_tokens=completion,
        cache_read_tokens=cache_read,
        cache_creation_tokens=cache_creation,
        is_total=not is_call and kind is not None,
        details={
            name: count
            for name, keys in DETAILS.items()
            if (count := first_count(found, *keys)) is not None
        },
        conditions=_conditions(found),
        response_id=_stored(response_id) if response_id else None,
        scope=_stored(scope),
        reported_cost=_reported_cost(found, answer),
    )


def _litellm_cached(found: Attributes) -> int | None:
    """Return the cached tokens of LiteLLM's own tracing, which has no name for them."""
    match = LITELLM_CACHED.search(first_text(found, "metadata.usage_object") or "")
    return int(match["count"]) if match else None


def _asked_model(found: Attributes) -> str | None:
    asked = first_text(found, *ASKED_MODEL)
    if asked is not None:
        return asked
    parameters = _json(first_text(found, "llm.invocation_parameters"))
    return _text(parameters.get("model"))


def _conditions(found: Attributes) -> dict[str, str]:
    tier = first_text(found, *SERVICE_TIER)
    if tier is None:
        return {}
    if tier == "batch":
        return {"processing": "batch"}
    return {"service_tier": "default" if tier == "standard" else _stored(tier)}


def _reported_cost(found: Attributes, answer: Mapping[str, Any]) -> str | None:
    cost = first_amount(found, *REPORTED_COST)
    if cost is None and isinstance(usage := answer.get("usage"), dict):
        cost = amount(usage.get("cost"))
    return None if cost is None else format(cost, "f")


def _answer(found: Attributes) -> Mapping[str, Any]:
    """Return the provider's answer, where the instrumentation keeps it whole."""
    return _json(first_text(found, "output.value"))


def _json(text: str | None) -> Mapping[str, Any]:
    if text is None or not text.startswith("{"):
        return {}
    try:
        parsed = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return parsed if isinstance(parsed, dict) else {}


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
