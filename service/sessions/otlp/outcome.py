"""The outcome of a request's spans: accepted, ignored, rejected."""

from dataclasses import dataclass, field

from prometheus_client import Counter as Metric

SPANS = Metric(
    "agent_runtime_reported_spans_total",
    "Spans of POST /v1/traces: accepted, rejected, or ignored as irrelevant to turns.",
    ["outcome"],
)


@dataclass(slots=True)
class IngestOutcome:
    """Counts of a request's spans, and the reasons for rejected ones."""

    spans: int = 0
    ignored: int = 0
    rejected: int = 0
    reasons: list[str] = field(default_factory=list)
    # Whether every rejection was for lack of permission.
    all_forbidden: bool = True

    @property
    def all_rejected(self) -> bool:
        return 0 < self.spans == self.rejected

    def reject(self, spans: int, reason: str, *, forbidden: bool = False) -> None:
        self.rejected += spans
        self.reasons.append(reason)
        self.all_forbidden = self.all_forbidden and forbidden

    def count(self) -> None:
        accepted = self.spans - self.ignored - self.rejected
        SPANS.labels("accepted").inc(accepted)
        SPANS.labels("ignored").inc(self.ignored)
        SPANS.labels("rejected").inc(self.rejected)
