"""A session and its turns as the API shows them.

The only description of operation 4's rows: the OpenAPI document is read off these
types, and so is the SQL by which the projector renders what can be stored rendered.
"""

from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from typing_extensions import TypedDict

from projections.sessions.stored_json import Computed, milliseconds, utc_text
from service.sessions.cost import UnpricedReason

FiguresFrom = Literal["service", "trace_store"]
"""Whose tokens, cost, traces and latencies a session shows."""

TraceStoreSays = Literal["not_configured", "found", "unknown_session", "unavailable"]


class TotalCost(TypedDict):
    cost: Annotated[Decimal | None, Computed("w.cost")]
    currency: Annotated[str | None, Computed("w.currency")]


class ListCost(TypedDict):
    """The cost by list prices, as if there were no contracts; null if unknown."""

    cost: Annotated[Decimal | None, Computed("w.list_cost")]
    currency: Annotated[str | None, Computed("w.list_currency")]


class ReportedCost(TypedDict):
    """What instrumentations report as the cost of their model calls, in US dollars.

    Of `traces` traces; null if none reports one.
    """

    cost: Annotated[float | None, Computed("w.reported_cost")]
    traces: Annotated[int, Computed("w.reported")]


class CostSummary(TypedDict):
    """Costs of a session.

    `total` is what is charged, by contracts where there are any.
    `traces_without_price` is null when the cost comes from the trace store; `unpriced`
    names the reasons, `several_currencies` also where traces that have prices differ in
    their currency. The costs of its traces were computed by the price catalog as
    recorded at times from `first_priced_at` to `last_priced_at`; null without traces.
    """

    total: TotalCost
    traces_without_price: Annotated[int | None, Computed("w.unpriced")]
    unpriced: Annotated[list[UnpricedReason], Computed("w.reasons")]
    first_priced_at: Annotated[datetime | None, Computed(utc_text("w.first_priced_at"))]
    last_priced_at: Annotated[datetime | None, Computed(utc_text("w.last_priced_at"))]
    list_total: ListCost
    reported: ReportedCost


class TokenUsage(TypedDict):
    total: Annotated[
        int | None,
        Computed(
            "coalesce(w.prompt_tokens + w.completion_tokens,"
            " w.prompt_tokens, w.completion_tokens)"
        ),
    ]
    prompt: Annotated[int | None, Computed("w.prompt_tokens")]
    completion: Annotated[int | None, Computed("w.completion_tokens")]
    cache_read: Annotated[int | None, Computed("w.cache_read_tokens")]
    cache_creation: Annotated[int | None, Computed("w.cache_creation_tokens")]


class SessionAnnotation(TypedDict):
    """An annotation of a session from the trace store."""

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


class StoredSession(TypedDict):
    """What of a session follows from its events: rendered once, by the projector."""

    id: Annotated[UUID, Computed("w.id")]
    session_id: Annotated[str, Computed("w.session_id")]
    agent_id: Annotated[UUID, Computed("w.agent_id")]
    user_id: Annotated[UUID, Computed("w.user_id")]
    start_time: Annotated[datetime, Computed(utc_text("w.started_at"))]
    end_time: Annotated[datetime, Computed(utc_text("w.last_active_at"))]
    duration_ms: Annotated[
        int, Computed(milliseconds("w.last_active_at - w.started_at"))
    ]
    has_ended: Annotated[bool, Computed("w.ended_at IS NOT NULL")]
    cost_summary: CostSummary
    token_usage: TokenUsage
    num_traces: Annotated[int, Computed("w.traces")]
    num_traces_with_error: Annotated[int | None, Computed("w.errors")]
    trace_latency_ms_p50: Annotated[float | None, Computed("w.latency_ms[1]")]
    trace_latency_ms_p99: Annotated[float | None, Computed("w.latency_ms[2]")]


class ToolCallFigures(TypedDict):
    """Calls through the tool gateway that name the session, or the turn's trace too.

    An error is a call that neither succeeded nor was cancelled. Null where no call
    does: whether the agent called tools without the gateway isn't known.
    """

    num_tool_calls: int | None
    num_tool_calls_with_error: int | None


UNKNOWN_TOOL_CALLS: Final[ToolCallFigures] = {
    "num_tool_calls": None,
    "num_tool_calls_with_error": None,
}


class TraceStoreFigures(TypedDict):
    """The trace store's own figures of a session, which may differ from ours."""

    traces: int | None
    traces_with_error: int | None
    tokens: int | None
    prompt_tokens: int | None
    completion_tokens: int | None
    cost: float | None
    currency: str | None
    latency_ms_p50: float | None
    latency_ms_p99: float | None


class SessionTexts(TypedDict):
    """The texts of a session, decrypted when it is read."""

    first_input: str | None
    first_input_truncated: bool
    last_output: str | None
    last_output_truncated: bool


class TraceStoreFields(TypedDict):
    """What a trace store says of a session when it is read."""

    session_annotations: Sequence[SessionAnnotation]
    session_annotation_summaries: Sequence[AnnotationSummary]
    trace_store: TraceStoreSays
    figures_from: FiguresFrom
    trace_store_figures: TraceStoreFigures | None


class Session(StoredSession, ToolCallFigures, SessionTexts, TraceStoreFields):
    pass


class ShownTurn(ToolCallFigures):
    turn_id: str
    trace_id: str | None
    start_time: datetime
    end_time: datetime
    latency_ms: float
    provider: str | None
    model: str | None
    token_usage: TokenUsage
    cost: Decimal | None
    currency: str | None
    price_id: str | None
    priced_as: str | None
    pricing_rule: str | None
    unpriced: UnpricedReason | None
    contract_id: str | None
    list_cost: Decimal | None
    list_currency: str | None
    priced_at: datetime
    reported_cost: float | None
    reported_cost_differs: bool
    estimated: list[str]
    is_error: bool
    error: str | None
    input: str | None
    input_truncated: bool
    output: str | None
    output_truncated: bool


class Turns(TypedDict):
    turns: list[ShownTurn]
    has_more_turns: bool


class SessionWithTurns(Session, Turns):
    pass
