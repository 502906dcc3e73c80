"""Phoenix's figures, read with care."""

import math
from decimal import Decimal
from typing import Any

import orjson
import pytest

from projections.sessions.phoenix.answers import (
    ANNOTATIONS_MAX,
    TEXT_CHARACTERS_MAX,
    BadRowError,
    enrichment_of,
)
from projections.sessions.trace_store import Enrichment
from service.http.envelope import to_json
from tests.support.sessions.phoenix.fake import AGENT, ANNOTATION, OTHER, SUMMARY, node


def read(**fields: Any) -> Enrichment:
    found = enrichment_of(node("s", **fields), "s", str(AGENT))
    assert found is not None
    return found


def spent(cost: Any, tokens: Any) -> dict[str, Any]:
    return {"total": {"cost": cost, "tokens": tokens}}


def test_every_figure_is_read() -> None:
    found = read()

    assert (found.tokens, found.prompt_tokens, found.completion_tokens) == (
        6900,
        6000,
        900,
    )
    assert (found.cost, found.currency) == (Decimal("0.0014025"), "USD")
    assert (found.traces, found.traces_with_error) == (3, 1)
    assert (found.latency_ms_p50, found.latency_ms_p99) == (2000.0, 3960.0)
    assert to_json(found.annotations) == to_json(
        [
            {
                "id": "A1",
                "name": "helpfulness",
                "annotator_kind": "LLM",
                "label": "helpful",
                "score": 0.9,
                "explanation": "answered everything",
                "metadata": {"model": "judge"},
                "identifier": "judge-1",
                "source": "API",
                "created_at": "2026-11-20T21:31:27Z",
                "updated_at": "2026-11-20T20:31:27.500000Z",
                "user": "alice",
            }
        ]
    )
    assert found.annotation_summaries == [
        {
            "name": "helpfulness",
            "count": 2,
            "labels": ["helpful"],
            "mean_score": 0.5,
            "score_count": 2,
            "label_count": 1,
            "label_fractions": [{"label": "helpful", "fraction": 1.0}],
        }
    ]


@pytest.mark.parametrize(
    ("cost", "tokens", "expected"),
    [
        (0.0014024999999999999, 6900.0, Decimal("0.0014025")),
        (0.1 + 0.2, 1.0, Decimal("0.3")),
        (1e-9, 1.0, Decimal("1e-9")),
        (12345.67, 1.0, Decimal("12345.67")),
        (3, 1.0, Decimal(3)),
        # It has no price for these tokens.
        (0.0, 6900.0, None),
        # Nothing was called: nothing was paid.
        (0.0, 0.0, Decimal(0)),
        (None, None, None),
        (-1.0, 1.0, None),
    ],
)
def test_costs(cost: Any, tokens: Any, expected: Decimal | None) -> None:
    found = read(costSummary=spent(cost, tokens))

    assert found.cost == expected
    assert found.currency == (None if expected is None else "USD")


def test_sums_over_nothing_are_unknown() -> None:
    usage = {"prompt": 0.0, "completion": 0.0, "total": 0.0}

    found = read(tokenUsage=usage, costSummary=spent(None, None), numTraces=0)

    assert (found.tokens, found.prompt_tokens, found.traces) == (None, None, None)


def test_a_session_of_another_project_is_not_ours() -> None:
    assert enrichment_of(node("s", OTHER), "s", str(AGENT)) is None


@pytest.mark.parametrize(
    "fields",
    [
        {"sessionId": 7},
        {"sessionId": "another"},
        {"project": None},
        {"numTraces": "3"},
        {"numTraces": -1},
        {"numTraces": 1.5},
        {"numTraces": True},
        {"numTraces": 10**300},
        {"p50": "fast"},
        {"p99": math.inf},
        {"tokenUsage": None},
        {"tokenUsage": {"total": 0.5}},
        {"costSummary": []},
        {"sessionAnnotations": None},
        {"sessionAnnotations": [None]},
        {"sessionAnnotations": [{**ANNOTATION, "createdAt": "yesterday"}]},
        {"sessionAnnotations": [{**ANNOTATION, "createdAt": "2026-01-01T00:00:00"}]},
        {"sessionAnnotations": [{**ANNOTATION, "score": "high"}]},
        {"sessionAnnotations": [{**ANNOTATION, "user": "alice"}]},
        {"sessionAnnotationSummaries": [{**SUMMARY, "labels": [1]}]},
        {"sessionAnnotationSummaries": [{**SUMMARY, "labelFractions": [{}]}]},
    ],
)
def test_a_row_that_can_t_be_is_bad(fields: dict[str, Any]) -> None:
    with pytest.raises(BadRowError):
        enrichment_of(node("s") | fields, "s", str(AGENT))


@pytest.mark.parametrize("depth", [251, 253, 255, 1000])
def test_metadata_that_is_nested_too_deep_is_left_out(depth: int) -> None:
    metadata = orjson.loads(b'{"a":' * depth + b"1" + b"}" * depth)

    found = read(sessionAnnotations=[{**ANNOTATION, "metadata": metadata}])

    assert [each["metadata"] for each in found.annotations] == [None]


def test_nested_metadata_is_shown() -> None:
    metadata = orjson.loads(b'{"a":' * 32 + b"1" + b"}" * 32)

    found = read(sessionAnnotations=[{**ANNOTATION, "metadata": metadata}])

    assert found.annotations[0]["metadata"] == metadata


def test_what_is_shown_is_bounded() -> None:
    long = {
        **ANNOTATION,
        "explanation": "x" * (TEXT_CHARACTERS_MAX + 1),
        "metadata": {"x": "y" * 5000},
    }

    found = read(sessionAnnotations=[long] * (ANNOTATIONS_MAX + 1))

    assert len(found.annotations) == ANNOTATIONS_MAX
    assert len(found.annotations[0]["explanation"] or "") == TEXT_CHARACTERS_MAX
    assert found.annotations[0]["metadata"] is None
