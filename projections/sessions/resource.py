"""A session and its turns as the API shows them."""

from datetime import datetime
from typing import Any, Literal, TypedDict
from uuid import UUID

TraceStoreSays = Literal["not_configured", "found", "unknown_session", "unavailable"]


class TotalCost(TypedDict):
    cost: float | None
    currency: str | None


class CostSummary(TypedDict):
    """`traces_without_price` is null when the trace store's cost is shown."""

    total: TotalCost
    traces_without_price: int | None


class TokenUsage(TypedDict):
    total: int | None
    prompt: int | None
    completion: int | None
    cache_read: int | None
    cache_creation: int | None


class SessionAnnotation(TypedDict):
    """What somebody, or a program, said of a session, as the trace store has it."""

    id: str
    name: str
    annotator_kind: str
    label: str | None
    score: float | None
    explanation: str | None
    metadata: dict[str, Any] | None
    identifier: str
    source: str
    created_at: datetime
    updated_at: datetime
    user: str | None


class LabelFraction(TypedDict):
    label: str
    fraction: float | None


class AnnotationSummary(TypedDict):
    """The annotations of one name, summed up."""

    name: str
    count: int
    labels: list[str]
    mean_score: float | None
    score_count: int
    label_count: int
    label_fractions: list[LabelFraction]


class Session(TypedDict):
    id: UUID
    session_id: str
    agent_id: UUID
    user_id: UUID
    start_time: datetime
    end_time: datetime
    duration_ms: int
    has_ended: bool
    cost_summary: CostSummary
    token_usage: TokenUsage
    num_traces: int
    num_traces_with_error: int | None
    trace_latency_ms_p50: float | None
    trace_latency_ms_p99: float | None
    first_input: str | None
    first_input_truncated: bool
    last_output: str | None
    last_output_truncated: bool
    session_annotations: list[SessionAnnotation]
    session_annotation_summaries: list[AnnotationSummary]
    trace_store: TraceStoreSays


class ShownTurn(TypedDict):
    turn_id: str
    trace_id: str | None
    start_time: datetime
    end_time: datetime
    latency_ms: float
    provider: str | None
    model: str | None
    token_usage: TokenUsage
    cost: float | None
    currency: str | None
    price_id: str | None
    is_error: bool
    error: str | None
    input: str | None
    input_truncated: bool
    output: str | None
    output_truncated: bool


class SessionWithTurns(Session):
    turns: list[ShownTurn]
    has_more_turns: bool
