"""Read the usage in a provider's answer, where an instrumentation keeps it as JSON.

Answers of OpenAI, Anthropic and Gemini, or their usage alone; LangChain's, which hold
one of those or its own ``usage_metadata``. The names are those of ``ModelCallUsage``.
"""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import islice
from typing import Any, Final

import orjson

from service.price_catalog.reported import reported_amount
from service.sessions.otlp.charged_names import is_charged
from service.sessions.turn import TOKENS_MAX

# A longer text of a Python dict isn't read: those that are hold only counts.
PYTHON_CHARACTERS_MAX: Final = 4_000
# Where an answer's usage says how much of a unit it was, by the path of its keys.
COUNTS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("cache_read_tokens", ("prompt_tokens_details", "cached_tokens")),
    ("cache_read_tokens", ("input_tokens_details", "cached_tokens")),
    ("cache_read_tokens", ("cache_read_input_tokens",)),
    ("cache_write_tokens", ("cache_creation_input_tokens",)),
    ("cache_write_5m_tokens", ("cache_creation", "ephemeral_5m_input_tokens")),
    ("cache_write_1h_tokens", ("cache_creation", "ephemeral_1h_input_tokens")),
    (
        "cache_write_1h_tokens",
        (
            "prompt_tokens_details",
            "cache_creation_token_details",
            "ephemeral_1h_input_tokens",
        ),
    ),
    (
        "cache_write_5m_tokens",
        (
            "prompt_tokens_details",
            "cache_creation_token_details",
            "ephemeral_5m_input_tokens",
        ),
    ),
    ("cache_write_1h_tokens", ("input_token_details", "ephemeral_1h_input_tokens")),
    ("cache_write_5m_tokens", ("input_token_details", "ephemeral_5m_input_tokens")),
    ("input_audio_tokens", ("prompt_tokens_details", "audio_tokens")),
    ("input_audio_tokens", ("input_token_details", "audio")),
    ("output_audio_tokens", ("completion_tokens_details", "audio_tokens")),
    ("output_audio_tokens", ("output_token_details", "audio")),
    ("cache_read_tokens", ("input_token_details", "cache_read")),
    ("cache_read_tokens", ("cached_content_token_count",)),
    ("cache_read_tokens", ("cachedContentTokenCount",)),
    ("cache_write_tokens", ("input_token_details", "cache_creation")),
    ("output_reasoning_tokens", ("completion_tokens_details", "reasoning_tokens")),
    ("output_reasoning_tokens", ("output_tokens_details", "reasoning_tokens")),
    ("output_reasoning_tokens", ("output_token_details", "reasoning")),
    ("output_reasoning_tokens", ("thoughts_token_count",)),
    ("output_reasoning_tokens", ("thoughtsTokenCount",)),
    ("web_searches", ("server_tool_use", "web_search_requests")),
)
_PATHS: Final = frozenset(path for _, path in COUNTS)
# Of a usage, names that are looked at, and how deep.
NAMES_MAX: Final = 200
DEPTH_MAX: Final = 3
# Ids that LangChain and OpenAI's agents make, which aren't those of an answer.
NO_IDS: Final = ("lc_run-", "run-", "__fake_id__")
# Providers under whose names the AI SDK keeps metadata.
PROVIDERS: Final = ("anthropic", "openai", "google", "bedrock", "azure", "vertex")
# LangChain names a tier's tokens after it, and cached ones by both.
LANGCHAIN_TIERS: Final = ("flex", "priority")


@dataclass(slots=True)
class Answer:
    """What an answer tells; ``is_whole`` if it has all that the provider said.

    ``unread`` are counts by names that nobody reads, though they may have a price.
    """

    counts: dict[str, int] = field(default_factory=dict)
    unread: list[tuple[str, int]] = field(default_factory=list)
    tier: str | None = None
    id: str | None = None
    cost: Decimal | None = None
    is_whole: bool = False


def read_answer(text: str, *, is_python: bool = False) -> Answer:
    """Return what a document tells: nothing, if it is none of a known form."""
    answer = Answer()
    document = _python(text) if is_python else _json(text)
    for part in _parts(document):
        _read(part, answer)
    return answer


def _parts(document: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a document, and the parts of the provider's answer that it holds.

    LangChain's ``generations`` hold them, and the AI SDK's metadata by provider.
    """
    yield document
    for provider in PROVIDERS:
        if isinstance(document.get(provider), dict):
            yield document[provider]
    generations = document.get("generations")
    while isinstance(generations, list) and generations:
        generations = generations[0]
    message = _dict(_dict(generations).get("message"))
    kept = _dict(message.get("kwargs")) or message or _dict(document.get("kwargs"))
    for part in (kept, _dict(kept.get("response_metadata"))):
        if part:
            yield part


def _read(part: Mapping[str, Any], answer: Answer) -> None:
    usage = part
    for name in ("usage", "usage_metadata", "usageMetadata", "token_usage"):
        if isinstance(part.get(name), dict):
            usage = part[name]
            answer.is_whole |= name == "usage"
    # Anthropic's usage holds all that it charges for.
    answer.is_whole |= "cache_creation_input_tokens" in usage
    _read_langchain_tier(usage, answer)
    for unit, path in COUNTS:
        # Most are of other providers.
        count = _count(_at(usage, path)) if path[0] in usage else None
        if count is not None:
            answer.counts.setdefault(unit, count)
    answer.unread += _unread(usage)
    for tier in (
        part.get("service_tier"),
        part.get("serviceTier"),
        usage.get("service_tier"),
    ):
        if isinstance(tier, str) and tier and answer.tier is None:
            answer.tier = tier
    searches = _searches(part)
    if searches:
        answer.counts.setdefault("web_searches", searches)
    own_id = part.get("id")
    if isinstance(own_id, str) and own_id and not own_id.startswith(NO_IDS):
        answer.id = answer.id or own_id
    if answer.cost is None:
        answer.cost = reported_amount(usage.get("cost"))


def _unread(
    usage: Mapping[str, Any], path: tuple[str, ...] = ()
) -> Iterator[tuple[str, int]]:
    """Yield the counts of a usage that may have a price, and that nobody reads."""
    for name, value in islice(usage.items(), NAMES_MAX):
        at = (*path, name)
        if isinstance(value, dict) and len(at) < DEPTH_MAX:
            yield from _unread(value, at)
        elif _count(value) and at not in _PATHS and is_charged(".".join(at)):
            yield ".".join(at), value


def _read_langchain_tier(usage: Mapping[str, Any], answer: Answer) -> None:
    details = _dict(usage.get("input_token_details"))
    for tier in LANGCHAIN_TIERS:
        if tier in details:
            answer.tier = answer.tier or tier
            cached = _count(details.get(f"{tier}_cache_read"))
            if cached is not None:
                answer.counts.setdefault("cache_read_tokens", cached)


def _searches(part: Mapping[str, Any]) -> int:
    """Return the searches among the items of an answer of OpenAI, or of Gemini."""
    count = 0
    for items in (part.get("output"), part.get("content")):
        if isinstance(items, list):
            count += sum(_dict(x).get("type") == "web_search_call" for x in items)
    for candidate in part.get("candidates") or ():
        for grounding, queries in (
            ("grounding_metadata", "web_search_queries"),
            ("groundingMetadata", "webSearchQueries"),
        ):
            found = _dict(_dict(candidate).get(grounding)).get(queries)
            count += len(found) if isinstance(found, list) else 0
    return count


def _at(value: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def _dict(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _count(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int):
        return None
    return value if 0 <= value <= TOKENS_MAX else None


def _json(text: str) -> Mapping[str, Any]:
    if not text.startswith("{"):
        return {}
    try:
        return _dict(orjson.loads(text))
    except orjson.JSONDecodeError:
        return {}


def _python(text: str) -> Mapping[str, Any]:
    if not text.startswith("{") or len(text) > PYTHON_CHARACTERS_MAX:
        return {}
    try:
        return _dict(ast.literal_eval(text))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return {}
