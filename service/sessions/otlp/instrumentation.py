"""Where an instrumentation writes what a model call used: the columns of the table.

A row says where the figures stand, what is inside of what, and what the instrumentation
doesn't tell at all: where the price depends on that, the cost is marked as an estimate.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import chain
from typing import Final, Literal

Keys = tuple[str, ...]
TIER: Final = "service_tier"
SPEED: Final = "speed"
BATCH: Final = "processing"
SEARCHES: Final = "web_searches"
WRITES_1H: Final = "cache_write_1h_tokens"
READS: Final = "cache_read_tokens"
WRITES: Final = "cache_write_tokens"
AUDIO: Final = "input_audio_tokens"
OUTPUT: Final = "output_tokens"
REASONING: Final = "output_reasoning_tokens"
MODEL: Final = "model"

Caches = Literal["inside", "outside", "by the total"]
"""Whether the input contains the cached tokens; else the total tells, or their sum."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instrumentation:
    """Where the spans of one scope tell what a model call used.

    Of several keys the first one that a span has counts. ``calls`` are the kinds of
    spans that are model calls, beside the general ones. ``documents`` are attributes
    that hold a provider's answer or its usage, which ``answers`` reads: as JSON, or as
    the text of a Python dict. ``tools`` say which tools the call could use.

    ``untold`` names what isn't told where a span doesn't have it, by the names of
    ``ModelCallUsage``; of anything else a span without it means that there was none.
    ``wrong_in_streams`` is what a span of a stream tells, but not as it was.
    ``zero_is_untold`` are counts that it writes as 0 where it doesn't know them.
    ``stream_log`` marks the span that tells the usage of a stream's call beside it.
    ``are_events``: its spans are made of log events, so that none tells when the turn
    ended. ``main`` is an attribute, and how it begins where the span is of the turn
    itself, not of what the program does beside it.
    """

    name: str
    scopes: Keys = ()
    kind: Keys = ("gen_ai.operation.name", "llm.request.type")
    calls: Keys = ()
    provider: Keys = (
        *("llm.provider", "llm.system"),
        *("gen_ai.provider.name", "gen_ai.system"),
    )
    model: Keys = (
        *("llm.model_name", "embedding.model_name", "reranker.model_name"),
        *("gen_ai.response.model", "gen_ai.request.model"),
    )
    asked_model: Keys = ("gen_ai.request.model", "llm.request.model_name")
    response_id: Keys = ("gen_ai.response.id", "llm.response.id")
    session: Keys = ("session.id", "gen_ai.conversation.id")
    user: Keys = ("user.id", "enduser.id")
    inputs: Keys = ()
    outputs: Keys = ()
    prompt: Keys = (
        "llm.token_count.prompt",
        "gen_ai.usage.input_tokens",
        "gen_ai.usage.prompt_tokens",
    )
    completion: Keys = (
        "llm.token_count.completion",
        "gen_ai.usage.output_tokens",
        "gen_ai.usage.completion_tokens",
    )
    total: Keys = (
        "llm.token_count.total",
        "gen_ai.usage.total_tokens",
        "llm.usage.total_tokens",
    )
    cache_read: Keys = (
        "llm.token_count.prompt_details.cache_read",
        "gen_ai.usage.cache_read.input_tokens",
        "gen_ai.usage.cache_read_input_tokens",
        "gen_ai.usage.cache_read_tokens",
        "gen_ai.usage.cached_input_tokens",
        "gen_ai.usage.input_cached_tokens",
        "gen_ai.usage.cached_tokens",
        "gen_ai.usage.input_tokens.cached",
        "gen_ai.usage.details.cache_read_tokens",
        "gen_ai.usage.details.cache_read_input_tokens",
        "gen_ai.usage.details.cached_tokens",
        "llm.usage.cache_read_input_tokens",
        "llm.token_count.prompt_details.cache_input",
        "ai.usage.cachedInputTokens",
    )
    cache_creation: Keys = (
        "llm.token_count.prompt_details.cache_write",
        "gen_ai.usage.cache_write.input_tokens",
        "gen_ai.usage.cache_creation.input_tokens",
        "gen_ai.usage.cache_creation_input_tokens",
        "gen_ai.usage.cache_creation_tokens",
        "gen_ai.usage.cache_write_tokens",
        "gen_ai.usage.input_tokens.cache_write",
        "gen_ai.usage.details.cache_write_tokens",
        "gen_ai.usage.details.cache_creation_input_tokens",
        "llm.usage.cache_creation_input_tokens",
    )
    details: Mapping[str, Keys]
    tier: Keys = (
        "openai.response.service_tier",
        "gen_ai.openai.response.service_tier",
        "anthropic.response.service_tier",
    )
    speed: Keys = ()
    asked_tier: Keys = (
        "openai.request.service_tier",
        "gen_ai.openai.request.service_tier",
    )
    # In US dollars.
    cost: Keys = (
        "llm.cost.total",
        "gen_ai.usage.cost",
        "gen_ai.usage.total_cost",
        "gen_ai.usage.cost_usd",
        "gen_ai.cost.total_cost",
        "litellm.cost.total",
        "operation.cost",
    )
    documents: Keys = ()
    python_documents: Keys = ()
    parameters: Keys = ()
    tools: Keys = ()
    tells_tools: bool = False
    search_items: Keys = ()
    caches: Caches = "by the total"
    output_from_total: bool = False
    untold: Keys = (TIER, SEARCHES, WRITES_1H)
    wrong_in_streams: Keys = ()
    zero_is_untold: Keys = ()
    stream_log: tuple[str, str] | None = None
    are_events: bool = False
    main: tuple[str, tuple[str, ...]] | None = None
    counted: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        """Collect all keys of counts that are read: ``counted``."""
        columns = (self.prompt, self.completion, self.total)
        caches = (self.cache_read, self.cache_creation)
        keys = chain(*columns, *caches, *self.details.values())
        object.__setattr__(self, "counted", frozenset(keys))
