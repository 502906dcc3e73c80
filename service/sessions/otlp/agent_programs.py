"""The rows of agent programs: spans of their own, and those made of log events."""

from dataclasses import replace
from typing import Final

from service.sessions.otlp.general import DETAILS, GENERAL
from service.sessions.otlp.instrumentation import SEARCHES, TIER

# Beside them, it asks for titles, summaries and suggestions, and runs inner agents.
MAIN: Final = ("query_source", ("repl_main_thread", "sdk"))
_CLAUDE_CODE: Final = replace(
    GENERAL,
    name="Claude Code",
    scopes=("com.anthropic.claude_code.tracing",),
    kind=("gen_ai.operation.name", "span.type"),
    calls=("llm_request",),
    model=("gen_ai.response.model", "gen_ai.request.model", "model"),
    prompt=("input_tokens",),
    completion=("output_tokens",),
    cache_read=("cache_read_tokens",),
    cache_creation=("cache_creation_tokens",),
    speed=("speed",),
    inputs=("user_prompt",),
    caches="outside",
)
PROGRAMS: Final = (
    _CLAUDE_CODE,
    replace(
        _CLAUDE_CODE,
        name="Claude Code's log events",
        scopes=("com.anthropic.claude_code.events",),
        are_events=True,
        main=MAIN,
        kind=("event.name",),
        calls=("api_request",),
        # Which its spans tell as the answer's.
        response_id=("request_id",),
        details={
            **DETAILS,
            "cache_write_5m_tokens": ("cache_creation_5m_tokens",),
            "cache_write_1h_tokens": ("cache_creation_1h_tokens",),
        },
        cost=("cost_usd",),
        inputs=("prompt",),
        outputs=("response",),
    ),
    replace(
        GENERAL,
        name="Codex's log events",
        scopes=("codex_otel.log_only",),
        are_events=True,
        kind=("event.name",),
        calls=("codex.sse_event",),
        session=("conversation.id",),
        model=("model",),
        prompt=("input_token_count",),
        completion=("output_token_count",),
        cache_read=("cached_token_count",),
        cache_creation=("cache_write_token_count",),
        details={**DETAILS, "output_reasoning_tokens": ("reasoning_token_count",)},
        asked_tier=("service_tier",),
        inputs=("prompt",),
        caches="inside",
        untold=(TIER, SEARCHES),
    ),
    # Its events tell the model calls; its spans repeat their tokens without a model.
    replace(GENERAL, name="Codex", scopes=("codex_",), prompt=(), completion=()),
)
