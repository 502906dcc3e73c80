"""How much a model call used, whatever names and sums its span has for it."""

from typing import Any

import pytest

from service.sessions.otlp.conventions import reported_span
from service.sessions.otlp.span import ModelCall
from tests.support.sessions.otlp.spans import span

CHAT = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "model-1"}
INPUT, OUTPUT = "gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"
TOTAL = "gen_ai.usage.total_tokens"
REASONING = "gen_ai.usage.reasoning.output_tokens"


def call_of(attributes: dict[str, Any], scope: str = "") -> ModelCall:
    found = {key.replace(".", "__"): value for key, value in attributes.items()}
    call = reported_span(span(1, **found), scope).call
    assert call is not None
    return call


@pytest.mark.parametrize(
    ("read", "written"),
    [
        (
            "gen_ai.usage.details.cache_read_tokens",
            "gen_ai.usage.details.cache_write_tokens",
        ),
        (
            "gen_ai.usage.details.cache_read_input_tokens",
            "gen_ai.usage.details.cache_creation_input_tokens",
        ),
        ("gen_ai.usage.cache_read_tokens", "gen_ai.usage.cache_write_tokens"),
        ("gen_ai.usage.cache_read_tokens", "gen_ai.usage.cache_creation_tokens"),
        ("gen_ai.usage.cached_tokens", "gen_ai.usage.cache_write_tokens"),
        ("gen_ai.usage.details.cached_tokens", "gen_ai.usage.cache_write_tokens"),
        ("gen_ai.usage.cached_input_tokens", "gen_ai.usage.cache_write_tokens"),
        (
            "gen_ai.usage.input_tokens.cached",
            "gen_ai.usage.input_tokens.cache_write",
        ),
        (
            "llm.usage.cache_read_input_tokens",
            "llm.usage.cache_creation_input_tokens",
        ),
        (
            "llm.token_count.prompt_details.cache_input",
            "llm.token_count.prompt_details.cache_write",
        ),
        ("ai.usage.cachedInputTokens", "gen_ai.usage.cache_write_tokens"),
    ],
)
@pytest.mark.parametrize("scope", ["", "pydantic-ai"])
def test_cached_tokens_are_read_by_all_their_names(
    read: str, written: str, scope: str
) -> None:
    call = call_of(
        {**CHAT, INPUT: 10_000, OUTPUT: 200, read: 8_000, written: 1_000}, scope
    )

    assert call.prompt_tokens == 10_000
    assert (call.cache_read_tokens, call.cache_creation_tokens) == (8_000, 1_000)
    assert not {"cache_read_tokens", "cache_write_tokens"} & set(call.untold)


@pytest.mark.parametrize(
    ("key", "untold"),
    [
        ("acme.usage.cache_hits_tokens", "cache_read_tokens"),
        ("acme.usage.cachedPromptTokens", "cache_read_tokens"),
        ("acme.tokens_written_to_cache", "cache_write_tokens"),
        ("acme.usage.audio_tokens", "input_audio_tokens"),
        ("acme.search_requests", "web_searches"),
        ("acme.usage.thinkingTokens", "output_tokens"),
        # "operation" has "ratio" in it, and "generated" "rate".
        ("gen_ai.operation.generated.cached_tokens", "cache_read_tokens"),
    ],
)
def test_a_count_that_nobody_reads_is_flagged(key: str, untold: str) -> None:
    plain = {**CHAT, INPUT: 10_000, OUTPUT: 200}

    assert untold not in set(call_of(plain).untold) - {"web_searches"}
    assert untold in call_of({**plain, key: 77}).untold


@pytest.mark.parametrize(
    "attributes",
    [
        # What is read already, again under a name of one's own.
        {"gen_ai.usage.cached_tokens": 8_000, "acme.usage.cache_tokens": 8_000},
        {"acme.usage.cache_tokens": 0},
        # Not what was used.
        {"acme.cache.max_tokens": 500},
        {"acme.usage.cache_cost": 5},
        {"acme.usage.cacheHitRate": 1},
        {"acme.usage.noCacheTokens": 5},
        {"acme.request.reasoning.budget_tokens": 500},
        {"acme.cache.token": "a1"},
    ],
)
def test_what_is_read_or_no_count_is_not_flagged(attributes: dict[str, Any]) -> None:
    plain = {**CHAT, INPUT: 10_000, OUTPUT: 200}

    assert set(call_of({**plain, **attributes}).untold) <= set(call_of(plain).untold)


@pytest.mark.parametrize(
    ("told", "output"),
    [
        # Beside the output, as it exceeds it or as the total says.
        ({INPUT: 1_000, OUTPUT: 100, REASONING: 400}, 500),
        ({INPUT: 1_000, OUTPUT: 100, REASONING: 400, TOTAL: 1_500}, 500),
        ({INPUT: 1_000, OUTPUT: 500, REASONING: 400, TOTAL: 1_900}, 900),
        # A part of the output.
        ({INPUT: 1_000, OUTPUT: 500, REASONING: 400}, 500),
        ({INPUT: 1_000, OUTPUT: 500, REASONING: 400, TOTAL: 1_500}, 500),
    ],
)
def test_reasoning_is_added_where_it_stands_beside_the_output(
    told: dict[str, int], output: int
) -> None:
    call = call_of({**CHAT, **told})

    assert (call.prompt_tokens, call.completion_tokens) == (1_000, output)
    assert call.total_tokens is None


def test_caches_and_reasoning_beside_their_wholes_are_both_added() -> None:
    cached = {"gen_ai.usage.cache_read.input_tokens": 600}
    told = {INPUT: 1_000, OUTPUT: 500, REASONING: 400, TOTAL: 2_500}

    call = call_of({**CHAT, **told, **cached})

    assert (call.prompt_tokens, call.completion_tokens) == (1_600, 900)


def test_a_total_that_two_sums_are_equal_to_is_flagged() -> None:
    cached = {"gen_ai.usage.cache_read.input_tokens": 400}
    told = {INPUT: 1_000, OUTPUT: 500, REASONING: 400, TOTAL: 1_900}

    untold = call_of({**CHAT, **told, **cached}).untold

    assert {"cache_read_tokens", "output_tokens"} <= set(untold)


def test_a_total_that_contradicts_its_parts_is_kept() -> None:
    call = call_of({**CHAT, INPUT: 4_299, OUTPUT: 631, TOTAL: 58_291})

    assert call.total_tokens == 58_291


def test_a_total_of_0_is_none() -> None:
    assert call_of({**CHAT, INPUT: 10, OUTPUT: 1, TOTAL: 0}).total_tokens is None


def test_a_0_under_one_name_does_not_hide_a_count_under_another() -> None:
    call = call_of({**CHAT, "llm.token_count.prompt": 0, INPUT: 10, OUTPUT: 1})

    assert call.prompt_tokens == 10


def test_counts_may_be_text() -> None:
    call = call_of({**CHAT, INPUT: "10", OUTPUT: "1"})

    assert (call.prompt_tokens, call.completion_tokens) == (10, 1)


@pytest.mark.parametrize(
    "attributes",
    [
        {"ai.usage.promptTokens": 10, "ai.usage.completionTokens": 1},
        {"input_tokens": 10, "output_tokens": 1, "cache_read_tokens": 5},
        {"input_token_count": 10, "output_token_count": 1},
        {"langfuse.observation.usage_details": '{"input": 10, "output": 1}'},
        {"mlflow.chat.tokenUsage": '{"input_tokens": 10, "output_tokens": 1}'},
        {"ag.metrics.unit.tokens.prompt_tokens": 10},
    ],
)
def test_a_usage_by_names_that_nobody_reads_is_unknown(
    attributes: dict[str, Any],
) -> None:
    call = call_of(attributes)

    assert (call.prompt_tokens, call.completion_tokens) == (None, None)
    assert call.is_total
