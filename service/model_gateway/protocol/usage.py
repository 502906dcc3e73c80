"""What an answer says of itself: its usage by the dialect's own figures, and its names.

Providers of a dialect add members of their own to its usage, and hardly ever mean
something else by the same name: so one reading is enough for all of them.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import orjson

from service.model_gateway.calls.figures import Figures
from service.model_gateway.dialects import Dialect
from service.price_catalog.reported import reported_amount
from service.price_catalog.usage import ModelCallUsage

Object = Mapping[str, Any]

COUNT_MAX: Final = 10**12
NAME_CHARACTERS_MAX: Final = 128
# Of a document's end: how often the text of an embedding may say "usage" behind it.
OCCURRENCES_MAX: Final = 20


def _places(**of: str) -> Mapping[str, list[list[str]]]:
    return {unit: [each.split(".") for each in of[unit].split()] for unit in of}


# Where a usage says how much of a unit it was: the first place with a count is it.
PLACES: Final = {
    Dialect.OPENAI_CHAT: _places(
        input_tokens="prompt_tokens",
        output_tokens="completion_tokens",
        cache_read_tokens="prompt_tokens_details.cached_tokens cached_tokens "
        "cache_read_input_tokens cached_prompt_text_tokens",
        cache_write_tokens="prompt_tokens_details.cache_write_tokens",
        input_audio_tokens="prompt_tokens_details.audio_tokens",
        output_audio_tokens="completion_tokens_details.audio_tokens",
        output_citation_tokens="citation_tokens",
        output_reasoning_tokens="completion_tokens_details.reasoning_tokens "
        "reasoning_tokens",
        web_searches="num_search_queries",
    ),
    Dialect.OPENAI_RESPONSES: _places(
        input_tokens="input_tokens",
        output_tokens="output_tokens",
        cache_write_tokens="input_tokens_details.cache_write_tokens",
        cache_read_tokens="input_tokens_details.cached_tokens "
        "input_tokens_details.cache_read_input_tokens",
        output_reasoning_tokens="output_tokens_details.reasoning_tokens",
        web_searches="tool_calls_details.search_web.invocation",
    ),
    # Without an output, some tell only the total.
    Dialect.OPENAI_EMBEDDINGS: _places(
        input_tokens="prompt_tokens total_tokens", output_tokens="completion_tokens"
    ),
    Dialect.ANTHROPIC_MESSAGES: _places(
        input_tokens="input_tokens",
        output_tokens="output_tokens",
        cache_read_tokens="cache_read_input_tokens",
        cache_write_tokens="cache_creation_input_tokens",
        cache_write_5m_tokens="cache_creation.ephemeral_5m_input_tokens",
        cache_write_1h_tokens="cache_creation.ephemeral_1h_input_tokens",
        output_reasoning_tokens="output_tokens_details.thinking_tokens",
        web_searches="server_tool_use.web_search_requests",
    ),
}
WHOLES: Final = ("input_tokens", "output_tokens")
# Units that ``ModelCallUsage`` has no field for.
OTHERS: Final = ("output_citation_tokens", "web_searches")
BESIDE: Final = ("output_reasoning_tokens", "output_citation_tokens")
CACHED: Final = ("cache_read_input_tokens", "cache_creation_input_tokens")
# Only Perplexity's usage has these.
OF_PERPLEXITY: Final = ("citation_tokens", "num_search_queries", "search_context_size")


def figures_of(dialect: Dialect, document: Object) -> Figures:
    """Return what a whole answer says; nothing, where it isn't one of the dialect."""
    said = _object(document)
    usage = _object(said.get("usage"))
    return Figures(
        usage=_usage(dialect, said, usage),
        model=_name(said.get("model")),
        response_id=_name(said.get("id")),
        # As OpenRouter says it.
        reported_cost=reported_amount(usage.get("cost")),
    )


def figures_at_end(dialect: Dialect, end: bytes) -> Figures:
    """Return what the end of an answer says, of one that is too large to keep.

    The names that stand before the usage aren't known.
    """
    position = len(end)
    for _ in range(OCCURRENCES_MAX):
        if (position := end.rfind(b'"usage"', 0, position)) < 0:
            break
        try:
            # Of any object within the outermost one, braces would be left over.
            document = orjson.loads(b"{" + end[position:])
        except orjson.JSONDecodeError:
            continue
        return figures_of(dialect, document)
    return Figures()


def _usage(dialect: Dialect, document: Object, usage: Object) -> ModelCallUsage | None:
    counts = {
        unit: count
        for unit, paths in PLACES[dialect].items()
        if (count := _first(usage, paths)) is not None
    }
    if not counts:
        return None
    given, written = counts.get("input_tokens"), counts.get("output_tokens")
    match dialect:
        case Dialect.ANTHROPIC_MESSAGES:
            given = _with_cached(usage)
        case Dialect.OPENAI_CHAT:
            written = _with_those_beside(usage, counts)
        case Dialect.OPENAI_EMBEDDINGS:
            written = written or 0
    parts = {unit: n for unit, n in counts.items() if unit not in (*WHOLES, *OTHERS)}
    return ModelCallUsage(
        input_tokens=given,
        output_tokens=written,
        **parts,
        others={unit: counts[unit] for unit in OTHERS if unit in counts},
        conditions=_conditions(document, usage),
        untold=(),
    )


def _with_cached(usage: Object) -> int | None:
    """Return all input tokens; Anthropic's own count is without a cache's."""
    cached = [usage[name] for name in CACHED if usage.get(name) is not None]
    counts = [_count(value) for value in (usage.get("input_tokens"), *cached)]
    known = [count for count in counts if count is not None]
    return _count(sum(known)) if len(known) == len(counts) else None


def _with_those_beside(usage: Object, counts: Mapping[str, int]) -> int | None:
    """Return all output tokens: some count reasoning and citations beside the text."""
    given, written = counts.get("input_tokens"), counts.get("output_tokens")
    beside = sum(counts.get(unit, 0) for unit in BESIDE)
    if written is None or not beside:
        return written
    # Perplexity's total is without them; xAI's shows them.
    is_beside = any(usage.get(name) is not None for name in OF_PERPLEXITY) or (
        given is not None
        and _count(usage.get("total_tokens")) == given + written + beside
    )
    return _count(written + beside) if is_beside else written


def _conditions(document: Object, usage: Object) -> dict[str, str]:
    """Return what the answer says of how it was made, on which its price may depend."""
    found = {}
    tier = _name(document.get("service_tier")) or _name(usage.get("service_tier"))
    if tier == "batch":
        found["processing"] = tier
    elif tier is not None and tier != "auto":
        found["service_tier"] = "default" if tier == "standard" else tier
    speed = _name(usage.get("speed"))
    if speed not in (None, "standard", "normal"):
        found["speed"] = speed
    return found


def _first(usage: Object, paths: Sequence[Sequence[str]]) -> int | None:
    for *outer, name in paths:
        parent = usage
        for each in outer:
            parent = _object(parent.get(each))
        if (count := _count(parent.get(name))) is not None:
            return count
    return None


def _object(value: Any) -> Object:
    return value if isinstance(value, Mapping) else {}


def _count(value: Any) -> int | None:
    # A bool is an int, too.
    return value if type(value) is int and 0 <= value <= COUNT_MAX else None


def _name(value: Any) -> str | None:
    """Return a name as it is, or None if it can't be recorded."""
    if not isinstance(value, str) or len(value) > NAME_CHARACTERS_MAX:
        return None
    return value if value.isprintable() and value.strip() == value != "" else None
