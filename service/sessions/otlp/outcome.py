"""The outcome of a request's spans or log records: accepted, ignored, rejected."""

from dataclasses import dataclass, field

from prometheus_client import Counter as Metric

SPANS = Metric(
    "agent_runtime_reported_spans_total",
    "Spans of POST /v1/traces: accepted, rejected, or ignored as irrelevant to turns.",
    ["outcome"],
)

RECORDS = Metric(
    "agent_runtime_reported_log_records_total",
    "Log records of POST /v1/logs: accepted, rejected, or ignored as irrelevant to "
    "turns.",
    ["outcome"],
)


@dataclass(slots=True)
class IngestOutcome:
    """Counts of a request's spans, and the reasons for rejected ones.

    Log records are counted as the spans that are made of them.
    """

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

    def count(self, metric: Metric, *, others: int = 0) -> None:
        """Count what became of the spans, and ``others`` that were ignored before."""
        accepted = self.spans - self.ignored - self.rejected
        metric.labels("accepted").inc(accepted)
        metric.labels("ignored").inc(self.ignored + others)
        metric.labels("rejected").inc(self.rejected)
