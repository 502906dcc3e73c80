"""Usages as providers of each dialect report them, and what they count."""

from typing import Any

from service.model_gateway.dialects import Dialect
from service.price_catalog.usage import UNITS, ModelCallUsage

CHAT, RESPONSES, EMBEDDINGS, MESSAGES = Dialect

Counts = dict[str, Any]


def counts_of(usage: ModelCallUsage | None) -> Counts:
    if usage is None:
        return {}
    counts = {unit: usage.count(unit) for unit in UNITS if unit != "requests"}
    return {unit: count for unit, count in counts.items() if count is not None}


ANSWERS: dict[str, tuple[Dialect, Counts, Counts]] = {
    "OpenAI": (
        CHAT,
        {
            "prompt_tokens": 1_117,
            "completion_tokens": 300,
            "total_tokens": 1_417,
            "prompt_tokens_details": {"cached_tokens": 1_024, "audio_tokens": 20},
            "completion_tokens_details": {
                "reasoning_tokens": 192,
                "audio_tokens": 0,
                "accepted_prediction_tokens": 0,
                "rejected_prediction_tokens": 0,
            },
        },
        {
            "input_tokens": 1_117,
            "output_tokens": 300,
            "cache_read_tokens": 1_024,
            "input_audio_tokens": 20,
            "output_reasoning_tokens": 192,
            "output_audio_tokens": 0,
        },
    ),
    "a provider with null": (
        CHAT,
        {
            "prompt_tokens": 5,
            "completion_tokens": 7,
            "total_tokens": 12,
            "prompt_tokens_details": None,
            "completion_tokens_details": {"reasoning_tokens": None},
        },
        {"input_tokens": 5, "output_tokens": 7},
    ),
    "xAI": (
        CHAT,
        {
            "prompt_tokens": 32,
            "completion_tokens": 9,
            "total_tokens": 135,
            "prompt_tokens_details": {"text_tokens": 32, "cached_tokens": 6},
            "completion_tokens_details": {"reasoning_tokens": 94},
            "num_sources_used": 0,
        },
        {
            "input_tokens": 32,
            "output_tokens": 103,
            "cache_read_tokens": 6,
            "output_reasoning_tokens": 94,
        },
    ),
    "Perplexity": (
        CHAT,
        {
            "prompt_tokens": 33,
            "completion_tokens": 7_163,
            "total_tokens": 7_196,
            "citation_tokens": 20_016,
            "num_search_queries": 18,
            "reasoning_tokens": 73_997,
            "search_context_size": "low",
        },
        {
            "input_tokens": 33,
            "output_tokens": 7_163 + 20_016 + 73_997,
            "output_citation_tokens": 20_016,
            "output_reasoning_tokens": 73_997,
            "web_searches": 18,
        },
    ),
    "Databricks": (
        CHAT,
        {
            "prompt_tokens": 80,
            "completion_tokens": 60,
            "total_tokens": 140,
            "cache_read_input_tokens": 50,
            "reasoning_tokens": 40,
        },
        {
            "input_tokens": 80,
            "output_tokens": 60,
            "cache_read_tokens": 50,
            "output_reasoning_tokens": 40,
        },
    ),
    "a response": (
        RESPONSES,
        {
            "input_tokens": 328,
            "input_tokens_details": {"cached_tokens": 128, "cache_write_tokens": 60},
            "output_tokens": 52,
            "output_tokens_details": {"reasoning_tokens": 20},
            "total_tokens": 380,
        },
        {
            "input_tokens": 328,
            "output_tokens": 52,
            "cache_read_tokens": 128,
            "cache_write_tokens": 60,
            "output_reasoning_tokens": 20,
        },
    ),
    "a response of Perplexity": (
        RESPONSES,
        {
            "input_tokens": 3_681,
            "input_tokens_details": {"cache_read_input_tokens": 70},
            "output_tokens": 780,
            "tool_calls_details": {"search_web": {"invocation": 3}},
        },
        {
            "input_tokens": 3_681,
            "output_tokens": 780,
            "cache_read_tokens": 70,
            "web_searches": 3,
        },
    ),
    "embeddings": (
        EMBEDDINGS,
        {"prompt_tokens": 8, "total_tokens": 8},
        {"input_tokens": 8, "output_tokens": 0},
    ),
    "embeddings of Voyage": (
        EMBEDDINGS,
        {"total_tokens": 10},
        {"input_tokens": 10, "output_tokens": 0},
    ),
    "Anthropic": (
        MESSAGES,
        {
            "input_tokens": 21,
            "cache_creation_input_tokens": 500,
            "cache_read_input_tokens": 3_000,
            "cache_creation": {
                "ephemeral_5m_input_tokens": 400,
                "ephemeral_1h_input_tokens": 100,
            },
            "output_tokens": 305,
            "output_tokens_details": {"thinking_tokens": 200},
            "server_tool_use": {"web_search_requests": 2, "web_fetch_requests": 1},
            "service_tier": "standard",
        },
        {
            "input_tokens": 3_521,
            "output_tokens": 305,
            "cache_read_tokens": 3_000,
            "cache_write_tokens": 500,
            "cache_write_5m_tokens": 400,
            "cache_write_1h_tokens": 100,
            "output_reasoning_tokens": 200,
            "web_searches": 2,
        },
    ),
    "a message without a cache": (
        MESSAGES,
        {
            "input_tokens": 21,
            "cache_creation_input_tokens": None,
            "cache_read_input_tokens": None,
            "output_tokens": 5,
            "server_tool_use": None,
        },
        {"input_tokens": 21, "output_tokens": 5},
    ),
}
