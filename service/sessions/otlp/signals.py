"""The signals of OTLP: traces, logs and metrics, each at an address of its own."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import (
    ExportLogsServiceRequest,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from service.sessions.otlp.wire import has_more_fields


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A signal: its requests contain resources, these scopes, and these the items.

    ``fields`` are the names of the three in protobuf, ``is_item`` says whether an item
    that was decoded is one of this signal. ``rejected`` is what a partial success calls
    the number of items that weren't accepted, ``refused`` the code of an error where
    none was.
    """

    name: str
    address: str
    # Of a protobuf message.
    request: type[Any]
    fields: tuple[str, str, str]
    is_item: Callable[[Any], bool]
    rejected: str
    refused: str = ""

    def items(self, request: Any) -> Iterator[Any]:
        resources, scopes, items = self.fields
        for resource in getattr(request, resources):
            for scope in getattr(resource, scopes):
                yield from getattr(scope, items)


TRACES: Final = Signal(
    name="spans",
    address="/v1/traces",
    request=ExportTraceServiceRequest,
    fields=("resource_spans", "scope_spans", "spans"),
    is_item=lambda span: bool(span.span_id and span.start_time_unix_nano),
    rejected="rejectedSpans",
    refused="spans_refused",
)
LOGS: Final = Signal(
    name="log records",
    address="/v1/logs",
    request=ExportLogsServiceRequest,
    fields=("resource_logs", "scope_logs", "log_records"),
    is_item=lambda each: bool(each.time_unix_nano or each.observed_time_unix_nano),
    rejected="rejectedLogRecords",
    refused="records_refused",
)
METRICS: Final = Signal(
    name="metrics",
    address="/v1/metrics",
    request=ExportMetricsServiceRequest,
    fields=("resource_metrics", "scope_metrics", "metrics"),
    is_item=lambda metric: bool(metric.name and metric.WhichOneof("data")),
    rejected="rejectedDataPoints",
)
SIGNALS: Final = (TRACES, LOGS, METRICS)


def signal_of(body: bytes, fields_max: int, *, but: Signal) -> Signal | None:
    """Return the signal, other than one, all of whose items a body in protobuf holds.

    One of more fields than a maximum isn't looked at.

    Requests of all signals have the same outer messages: one is also decoded as
    another, with items that aren't any.
    """
    for signal in SIGNALS:
        if signal is but or has_more_fields(body, fields_max, signal.request):
            continue
        try:
            request = signal.request.FromString(body)
        except DecodeError:
            continue
        items = map(signal.is_item, signal.items(request))
        if next(items, False) and all(items):
            return signal
    return None
