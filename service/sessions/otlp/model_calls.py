"""Read a model call from a span's attributes, by the row of its instrumentation."""

import hashlib
import re
from typing import Any, Final

import orjson

from service.sessions.ids import ID_PATTERN
from service.sessions.otlp.answers import Answer, read_answer
from service.sessions.otlp.attributes import (
    Attributes,
    first_amount,
    first_count,
    first_text,
)
from service.sessions.otlp.counts import read_counts
from service.sessions.otlp.instrumentation import (
    SEARCHES,
    SPEED,
    TIER,
    Instrumentation,
)
from service.sessions.otlp.span import ModelCall
from service.sessions.otlp.unread import tells_usage
from service.sessions.otlp.untold import SEARCH_TOOL, ModelCallRead, asks_for_search

# Kinds of spans that are themselves a model call.
CALL_KINDS: Final = frozenset(
    {
        *("LLM", "EMBEDDING", "RERANKER"),
        *("chat", "text_completion", "generate_content", "embeddings", "rerank"),
        *("completion", "embedding"),
    }
)
# Model calls that write no text, so that they have no output tokens.
WITHOUT_OUTPUT: Final = frozenset(
    {"EMBEDDING", "RERANKER", "embeddings", "embedding", "rerank", "ai.embed.doEmbed"}
)
SEARCH_CALL: Final = "server_tool_call"

_CLIENT_ID: Final = re.compile(ID_PATTERN)
_NO_ANSWER: Final = Answer()


def client_id(text: str | None) -> str | None:
    """Return a name, or None if it can't be recorded."""
    text = (text or "").strip()
    return text if _CLIENT_ID.fullmatch(text) else None


def _stored(text: str) -> str:
    """Return a text as it is stored: its digest, if it is too long or not printable."""
    if not text:
        return text
    return client_id(text) or hashlib.sha256(text.encode()).hexdigest()


def kind_of(found: Attributes, row: Instrumentation) -> str | None:
    """Return what a span is: OpenInference's kind, or the name of an operation."""
    kind = first_text(found, "openinference.span.kind")
    if kind is not None:
        return kind.upper()
    return first_text(found, *row.kind)


def model_call(
    found: Attributes, row: Instrumentation, *, scope: str, is_error: bool
) -> ModelCall | None:
    """Return the model call of a span, or None if it isn't one.

    A span with token counts is one. Without counts, it is a model call whose usage is
    unknown; unless it failed without an answer, which no provider charges.
    """
    kind = kind_of(found, row)
    is_call = kind in CALL_KINDS or (
        bool(row.calls) and kind is not None and kind.endswith(row.calls)
    )
    prompt = first_count(found, *row.prompt)
    completion = first_count(found, *row.completion)
    answer = _answer(found, row) if is_call else _NO_ANSWER
    response_id = first_text(found, *row.response_id) or answer.id
    is_told = prompt is not None or completion is not None
    if not is_told:
        if is_error and response_id is None:
            return None
        # Whose names nobody reads: as a sum, it counts where no call tells its usage.
        if not is_call and not tells_usage(found, row):
            return None
    elif completion is None and kind in WITHOUT_OUTPUT:
        completion = 0
    cost = first_amount(found, *row.cost)
    if cost is None:
        cost = answer.cost
    is_stream_log = row.stream_log is not None and (
        first_text(found, row.stream_log[0]) == row.stream_log[1]
    )
    model = client_id(first_text(found, *row.model))
    counts = read_counts(
        found,
        row,
        answer,
        prompt=prompt,
        completion=completion,
        details=_details(found, row, answer),
    )
    conditions, is_tier_told = _conditions(found, row, answer)
    if (speed := first_text(found, *row.speed)) not in (None, "normal"):
        conditions[SPEED] = _stored(speed)
    read = ModelCallRead(
        found=found,
        row=row,
        answer=answer,
        counts=counts,
        conditions=conditions,
        is_tier_told=is_tier_told,
        model=model or "",
        response_id=response_id or "",
    )
    return ModelCall(
        provider=client_id(first_text(found, *row.provider)),
        model=model,
        asked_model=client_id(_asked_model(found, row)),
        prompt_tokens=counts.prompt,
        completion_tokens=counts.completion,
        cache_read_tokens=counts.cache_read,
        cache_creation_tokens=counts.cache_creation,
        total_tokens=counts.contradiction,
        is_total=not is_call and (kind is not None or not is_told),
        details=counts.details,
        conditions=conditions,
        response_id=_stored(response_id) if response_id else None,
        scope=_stored(scope),
        reported_cost=None if cost is None else format(cost, "f"),
        is_stream_log=is_stream_log,
        untold=read.untold(),
    )


def _details(found: Attributes, row: Instrumentation, answer: Answer) -> dict[str, int]:
    details = {
        name: count
        for name, keys in row.details.items()
        if (count := first_count(found, *keys)) is not None
    }
    for name, count in answer.counts.items():
        if name not in ("cache_read_tokens", "cache_write_tokens"):
            details.setdefault(name, count)
    if row.search_items and SEARCHES not in details and asks_for_search(found, row):
        items = first_text(found, *row.search_items)
        if items is not None:
            details[SEARCHES] = _search_items(items)
    return details


def _search_items(text: str) -> int:
    """Return how many of the provider's searches are among messages or tool calls."""
    try:
        messages = orjson.loads(text)
    except orjson.JSONDecodeError:
        return 0
    items: list[Any] = []
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict):
            parts = message.get("parts")
            items += parts if isinstance(parts, list) else [message]
    return sum(
        isinstance(item, dict)
        and (item.get("type") == SEARCH_CALL or "toolName" in item)
        and SEARCH_TOOL.search(str(item.get("name", item.get("toolName")))) is not None
        for item in items
    )


def _conditions(
    found: Attributes, row: Instrumentation, answer: Answer
) -> tuple[dict[str, str], bool]:
    """Return the tier that the answer names, or else the request; and which it is."""
    tier = first_text(found, *row.tier) or answer.tier
    is_told = tier is not None
    if tier is None:
        tier = first_text(found, *row.asked_tier) or _parameter(found, row, TIER)
    if tier is None or tier == "auto":
        return {}, False
    if tier == "batch":
        return {"processing": "batch"}, is_told
    return {TIER: "default" if tier == "standard" else _stored(tier)}, is_told


def _asked_model(found: Attributes, row: Instrumentation) -> str | None:
    return first_text(found, *row.asked_model) or _parameter(found, row, "model")


def _parameter(found: Attributes, row: Instrumentation, name: str) -> str | None:
    """Return a parameter of the request, where an instrumentation keeps them."""
    text = first_text(found, *row.parameters)
    # Parsed only for what it holds.
    if text is None or not text.startswith("{") or f'"{name}"' not in text:
        return None
    try:
        parsed: Any = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    value = parsed.get(name) if isinstance(parsed, dict) else None
    return value if isinstance(value, str) and value else None


def _answer(found: Attributes, row: Instrumentation) -> Answer:
    """Return what the provider's answer tells, where it is kept."""
    text = first_text(found, *row.documents)
    if text is not None:
        return read_answer(text)
    text = first_text(found, *row.python_documents)
    return _NO_ANSWER if text is None else read_answer(text, is_python=True)
