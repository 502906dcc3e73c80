"""Replay recordings through the service's own reading, and compare the costs.

The yardstick is genai-prices: its ``extract_usage`` of the provider's whole answer,
with the tier that the answer names, at its own prices. Web searches that its extractors
leave out are counted in the answer.
"""

import json
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any, Final

from genai_prices import Usage, extract_usage
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans

from service.price_catalog.charge import EXACT, Charge
from service.price_catalog.usage import CONDITIONS, ModelCallUsage
from service.sessions.cost import charge_of_turn
from service.sessions.otlp.body import from_json
from service.sessions.otlp.conventions import reported_span
from service.sessions.otlp.logs.events import AgentEvent, add_spans, agent_events
from service.sessions.otlp.signals import LOGS, TRACES
from service.sessions.otlp.span import (
    KeptEntry,
    KeptSpan,
    ReportedSpan,
    kept_span,
)
from service.sessions.otlp.text_order import FIRST_INPUT, LAST_OUTPUT
from service.sessions.otlp.trace import TraceTurn, turn_of
from service.sessions.recorded_calls import OWN_COUNTS
from service.sessions.turn import PricedModelCall, Texts, Turn
from tests.instruments.costs.catalog import ImportedCatalog
from tests.instruments.costs.instrumentations.cases import ANSWERS, QUESTIONS

NOON: Final = datetime(2026, 11, 20, 12, tzinfo=UTC)
FLAVORS: Final = {
    "chat": ("openai", "chat"),
    "responses": ("openai", "responses"),
    "anthropic": ("anthropic", "default"),
    "google": ("google", "default"),
    "bedrock": ("aws", "default"),
}
BEDROCK_MODEL: Final = "global.anthropic.claude-sonnet-4-5-20250929-v1:0"


@dataclass(frozen=True, slots=True)
class TrueCall:
    """What a call used by the provider's answer, and its cost by genai-prices."""

    usage: ModelCallUsage
    cost: Decimal
    model: str


@dataclass(frozen=True, slots=True)
class Replayed:
    """A turn as the service reads it, beside what it was.

    ``explained`` is its cost with the true figures for what it says is estimated.
    """

    charge: Charge
    true_cost: Decimal
    explained: Decimal | None = None
    has_right_texts: bool = False

    @property
    def says(self) -> str:
        """``exact``, ``estimated``, a reason for no cost, or ``wrong``."""
        charge = self.charge
        if charge.amount is None:
            return charge.unpriced.value if charge.unpriced else "no session"
        if charge.estimated:
            return "estimated" if self.explained == self.true_cost else "wrong"
        return "exact" if charge.amount == self.true_cost else "wrong"


def true_call(answer: Any) -> TrueCall:
    """Return what a provider's answer says, and what genai-prices charges for it."""
    provider, flavor = FLAVORS[answer["api"]]
    whole = dict(answer["answer"])
    if answer["api"] == "bedrock":
        whole["model"] = BEDROCK_MODEL
    extracted = extract_usage(whole, provider_id=provider, api_flavor=flavor)
    counts = {name: n for name, n in vars(extracted.usage).items() if n}
    searches = _searches(whole)
    if searches:
        counts["web_searches"] = searches
    conditions = _conditions(whole)
    assert extracted.model is not None
    price = extracted.model.calc_price(
        Usage(**counts),
        extracted.provider,
        genai_request_timestamp=NOON,
        price_context=conditions,
    )
    # Parts that the service has no unit for have no price either.
    known = {n: c for n, c in counts.items() if n in OWN_COUNTS}
    others = {n: c for n, c in counts.items() if n == "web_searches"}
    usage = ModelCallUsage(**known, others=others, conditions=conditions)
    return TrueCall(usage, price.total_price, str(extracted.model.id))


def _searches(whole: Any) -> int:
    told = whole.get("usage", {}).get("server_tool_use", {}).get("web_search_requests")
    calls = [x for x in whole.get("output", ()) if "type" in x]
    grounded = [
        query
        for candidate in whole.get("candidates", ())
        for query in candidate.get("groundingMetadata", {}).get("webSearchQueries", ())
    ]
    return told or len(grounded) or sum(x["type"] == "web_search_call" for x in calls)


def _conditions(whole: Any) -> dict[str, str]:
    tier = whole.get("service_tier") or whole.get("usage", {}).get("service_tier")
    if tier == "batch":
        return {"processing": "batch"}
    return {"service_tier": "default" if tier == "standard" else tier} if tier else {}


def turns_of(export: Any) -> list[tuple[TraceTurn, Texts]]:
    """Return the turns of an export, as the service would make them of its spans."""
    traces: defaultdict[str, list[ReportedSpan]] = defaultdict(list)
    for resource in [*_spans(export), *_spans_of_logs(export)]:
        for scope in resource.scope_spans:
            for span in scope.spans:
                found = reported_span(span, scope.scope.name)
                traces[found.trace_id].append(found)
    turns = []
    for trace_id, spans in traces.items():
        turn = turn_of(trace_id, [_kept(span) for span in spans])
        if turn is not None:
            turns.append((turn, _texts(turn, spans)))
    return sorted(turns, key=lambda each: each[0].started_at)


def _spans(export: Any) -> list[ResourceSpans]:
    given = {"resourceSpans": export.get("resourceSpans", [])}
    return list(from_json(json.dumps(given).encode(), TRACES).resource_spans)


def _spans_of_logs(export: Any) -> list[ResourceSpans]:
    """Return the spans of log events, which are in the turn of the last prompt."""
    given = {"resourceLogs": export.get("resourceLogs", [])}
    found: list[ResourceSpans] = []
    prompts: dict[str, AgentEvent] = {}
    for resource in from_json(json.dumps(given).encode(), LOGS).resource_logs:
        events = []
        for event in sorted(agent_events(resource), key=lambda each: each.at):
            prompt = prompts.get(event.session_id)
            in_turn = event.in_turn(
                event.trace_id
                or (prompt.trace_id if prompt and event.role != "prompt" else None)
            )
            if event.role == "prompt":
                prompts[event.session_id] = in_turn
            events.append(in_turn)
        found.append(ResourceSpans())
        add_spans(found[-1], resource, events)
    return found


def _kept(span: ReportedSpan) -> KeptSpan:
    entry: KeptEntry | None = None
    if span.entry is not None:
        entry = KeptEntry(
            is_root=span.entry.is_root,
            ended_at=span.entry.ended_at.isoformat(),
            user_id=None,
            is_error=span.entry.is_error,
            owner="",
            sealed_input=None,
            sealed_output=None,
            sealed_error=None,
            is_event=span.entry.is_event,
        )
    kept = kept_span(span, entry)
    # As the database gives it back.
    return KeptSpan.from_json(span.span_id, json.loads(json.dumps(kept.to_json())))


def _texts(turn: TraceTurn, spans: Sequence[ReportedSpan]) -> Texts:
    begin = next(span for span in spans if span.span_id == turn.entry_span_id)
    assert begin.entry is not None
    first, last = FIRST_INPUT.best(spans), LAST_OUTPUT.best(spans)
    return Texts(
        input=begin.entry.texts.input or (first and first[1]),
        output=begin.entry.texts.output or (last and last[1]),
    )


async def replayed(session: Any, catalog: ImportedCatalog) -> list[Replayed]:
    """Return both turns of a recorded session, as they are read and priced."""
    found = turns_of(session["export"])
    ids = {turn.session_id for turn, _ in found}
    results = []
    for number, question in enumerate(QUESTIONS):
        true = [true_call(a) for a in session["answers"] if a["turn"] == number]
        cost = Decimal(0)
        for call in true:
            cost = EXACT.add(cost, call.cost)
        if len(found) != len(QUESTIONS) or len(ids) != 1:
            results.append(Replayed(Charge(), cost))
            continue
        traced, texts = found[number]
        turn = _turn(traced, texts)
        charge, _ = await charge_of_turn(turn, catalog)
        explained, _ = await charge_of_turn(_with_truth(turn, charge, true), catalog)
        results.append(
            Replayed(
                charge,
                cost,
                explained.amount,
                (texts.input, texts.output) == (question, ANSWERS[number]),
            )
        )
    return results


def _turn(traced: TraceTurn, texts: Texts) -> Turn:
    return Turn(
        turn_id=traced.trace_id,
        started_at=traced.started_at,
        ended_at=traced.ended_at,
        tokens=traced.tokens,
        texts=texts,
        shares=traced.shares,
        spans=traced.spans,
    )


def _with_truth(turn: Turn, charge: Charge, true: Sequence[TrueCall]) -> Turn:
    """Return a turn with the true figures for what its cost says is estimated."""
    left = list(true)
    shares = []
    for share in turn.shares:
        calls = []
        for call in share.calls:
            truth = min(left, key=lambda each: _distance(each.usage, call.usage))
            if len(left) > 1:
                left.remove(truth)
            calls.append(
                PricedModelCall(
                    call.started_at,
                    _corrected(call.usage, truth.usage, charge),
                    call.asked_model,
                )
            )
        model = true[0].model if "model" in charge.estimated else share.model
        shares.append(replace(share, model=model, calls=tuple(calls)))
    return replace(turn, shares=tuple(shares))


def _distance(true: ModelCallUsage, read: ModelCallUsage) -> int:
    return abs((true.input_tokens or 0) - (read.input_tokens or 0)) + abs(
        (true.output_tokens or 0) - (read.output_tokens or 0)
    )


def _corrected(
    read: ModelCallUsage, true: ModelCallUsage, charge: Charge
) -> ModelCallUsage:
    conditions = dict(read.conditions)
    others = dict(read.others)
    own: dict[str, Any] = {}
    for name in charge.estimated:
        if name in CONDITIONS:
            conditions.pop(name, None)
            conditions.pop("processing", None)
            conditions.update(true.conditions)
        elif name in OWN_COUNTS:
            own[name] = true.count(name)
        elif true.count(name) is not None:
            others[name] = true.count(name) or 0
    return replace(read, conditions=conditions, others=others, **own)
