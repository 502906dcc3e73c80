"""Parse and validate what Phoenix answers about a session.

Token counts are floats, costs binary floats in US dollars. A cost of 0.0 for some
tokens means that Phoenix has no price for them.
"""

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

import orjson

from projections.sessions.resource import (
    AnnotationSummary,
    LabelFraction,
    SessionAnnotation,
)
from projections.sessions.trace_store import Enrichment

CURRENCY: Final = "USD"
ANNOTATIONS_MAX: Final = 100
LABELS_MAX: Final = 100
TEXT_CHARACTERS_MAX: Final = 4096
CUT: Final = " [...]"
METADATA_BYTES_MAX: Final = 4096
# orjson reads deeper values than it writes.
METADATA_DEPTH_MAX: Final = 32
COUNT_MAX: Final = 2**53
# The decimal digits that a double preserves.
COST_DIGITS: Final = 15


class BadRowError(Exception):
    """An answer about a session that isn't in Phoenix's format."""


def session_id_of(node: Any) -> str:
    return _text(_object(node), "sessionId")


def enrichment_of(node: Any, session_id: str, project: str) -> Enrichment | None:
    """Parse a session; None if it belongs to another project.

    :raises BadRowError: it is malformed, or another session
    """
    session = _object(node)
    if session_id_of(session) != session_id:
        raise BadRowError
    if _text(_object(session.get("project")), "name") != project:
        return None
    tokens = _object(session.get("tokenUsage"))
    total_cost = _object(_object(session.get("costSummary")).get("total"))
    # Without any model call the sums are 0, not null: then they are unknown.
    has_tokens = bool(_count(tokens, "total"))
    traces = _count(session, "numTraces")
    annotations = _list(session, "sessionAnnotations")
    summaries = _list(session, "sessionAnnotationSummaries")
    cost = _cost(total_cost)
    return Enrichment(
        annotations=list(map(_annotation, annotations[:ANNOTATIONS_MAX])),
        annotation_summaries=list(map(_summary, summaries[:ANNOTATIONS_MAX])),
        tokens=_count(tokens, "total") if has_tokens else None,
        prompt_tokens=_count(tokens, "prompt") if has_tokens else None,
        completion_tokens=_count(tokens, "completion") if has_tokens else None,
        cost=cost,
        currency=CURRENCY if cost is not None else None,
        traces=traces or None,
        traces_with_error=_count(session, "numTracesWithError") if traces else None,
        latency_ms_p50=_number(session, "p50"),
        latency_ms_p99=_number(session, "p99"),
    )


def _cost(total: Mapping[str, Any]) -> Decimal | None:
    cost, tokens = _number(total, "cost"), _number(total, "tokens")
    if cost is None or cost < 0 or (cost == 0 and tokens):
        return None
    digits = Decimal(format(cost, f".{COST_DIGITS}g"))
    return digits.normalize() if digits else Decimal(0)


def _annotation(node: Any) -> SessionAnnotation:
    given = _object(node)
    user = given.get("user")
    return {
        "id": _text(given, "id"),
        "name": _text(given, "name"),
        "annotator_kind": _text(given, "annotatorKind"),
        "label": _optional_text(given, "label"),
        "score": _number(given, "score"),
        "explanation": _optional_text(given, "explanation"),
        "metadata": _metadata(given.get("metadata")),
        "identifier": _text(given, "identifier"),
        "source": _text(given, "source"),
        "created_at": _time(given, "createdAt"),
        "updated_at": _time(given, "updatedAt"),
        "user": _text(_object(user), "username") if user is not None else None,
    }


def _summary(node: Any) -> AnnotationSummary:
    given = _object(node)
    labels = _list(given, "labels")[:LABELS_MAX]
    if not all(isinstance(label, str) for label in labels):
        raise BadRowError
    return {
        "name": _text(given, "name"),
        "count": _count(given, "count") or 0,
        "labels": [_shortened(label) for label in labels],
        "mean_score": _number(given, "meanScore"),
        "score_count": _count(given, "scoreCount") or 0,
        "label_count": _count(given, "labelCount") or 0,
        "label_fractions": list(
            map(_fraction, _list(given, "labelFractions")[:LABELS_MAX])
        ),
    }


def _fraction(node: Any) -> LabelFraction:
    given = _object(node)
    return {"label": _text(given, "label"), "fraction": _number(given, "fraction")}


def _metadata(value: Any) -> dict[str, Any] | None:
    """Return metadata, or None if it is too large or nested too deep."""
    if not isinstance(value, dict) or _is_deeper(value, METADATA_DEPTH_MAX):
        return None
    return value if len(orjson.dumps(value)) <= METADATA_BYTES_MAX else None


def _is_deeper(value: Any, depth: int) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return depth == 0 or any(_is_deeper(each, depth - 1) for each in inner)


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise BadRowError
    return value


def _list(given: Mapping[str, Any], name: str) -> Sequence[Any]:
    value = given.get(name)
    if not isinstance(value, list):
        raise BadRowError
    return value


def _text(given: Mapping[str, Any], name: str) -> str:
    value = given.get(name)
    if not isinstance(value, str):
        raise BadRowError
    return _shortened(value)


def _shortened(text: str) -> str:
    """Return a text of at most ``TEXT_CHARACTERS_MAX``; an ellipsis marks the cut."""
    if len(text) <= TEXT_CHARACTERS_MAX:
        return text
    return text[: TEXT_CHARACTERS_MAX - len(CUT)] + CUT


def _optional_text(given: Mapping[str, Any], name: str) -> str | None:
    return None if given.get(name) is None else _text(given, name)


def _number(given: Mapping[str, Any], name: str) -> float | None:
    value = given.get(name)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadRowError
    if abs(value) > COUNT_MAX or not math.isfinite(value):
        raise BadRowError
    return float(value)


def _count(given: Mapping[str, Any], name: str) -> int | None:
    value = _number(given, name)
    if value is None:
        return None
    if value < 0 or not value.is_integer():
        raise BadRowError
    return int(value)


def _time(given: Mapping[str, Any], name: str) -> datetime:
    try:
        time = datetime.fromisoformat(_text(given, name))
        in_utc = time.astimezone(UTC)
    except (ValueError, OverflowError):
        raise BadRowError from None
    if time.tzinfo is None:
        raise BadRowError
    return in_utc
