"""OTLP/HTTP: the operations that speak another protocol than the rest."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, nullcontext
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final

from aiohttp import web
from prometheus_client import Counter
from typing_extensions import TypedDict

from service.errors import ForbiddenError, MalformedRequestError
from service.http.app_keys import WAITS
from service.http.authentication import authenticate_again
from service.http.body import uploading
from service.http.dispatch import request_metadata
from service.http.log_epoch import POSITION_HEADER
from service.http.operation import Registration, Routes
from service.http.own_writes import remember_write
from service.sessions.otlp.answer import joined_reasons, partial_success, refusal
from service.sessions.otlp.body import JSON, PROTOBUF, count_items, decoded, read_export
from service.sessions.otlp.ingest import LARGE_BYTES_MIN, LARGE_ITEMS_MIN, Ingest
from service.sessions.otlp.logs.spans import EventSpans, as_spans
from service.sessions.otlp.old_traces import keep_deleting_old_traces
from service.sessions.otlp.outcome import RECORDS, SPANS, IngestOutcome
from service.sessions.otlp.recording import Recording
from service.sessions.otlp.signals import LOGS, METRICS, TRACES, Signal
from service.tasks import background_task, end_tasks
from service.waits import holding

routes = Routes("observability")

INGEST = web.AppKey("ingest", Ingest)


# Fields as OTLP's JSON spells them.
class PartialSuccess(TypedDict):
    rejectedSpans: str
    errorMessage: str


class ExportedTraces(TypedDict, total=False):
    partialSuccess: PartialSuccess


class LogsPartialSuccess(TypedDict):
    rejectedLogRecords: str
    errorMessage: str


class ExportedLogs(TypedDict, total=False):
    partialSuccess: LogsPartialSuccess


class ExportedMetrics(TypedDict):
    pass


TOO_MANY: Final = (
    "the agent has 500,000 open traces (`too_many_traces`), or there were too many "
    "rejected tokens from this address"
)
TOO_SLOW: Final = (
    "the body took too long to arrive (`upload_too_slow`), those before it did "
    "(`overloaded`), or the service is temporarily unavailable"
)


def _export(path: str, answers: Mapping[int, str], data: Any) -> Registration:
    return routes.post(
        path,
        answers=answers,
        data=data,
        content_type=JSON,
        idempotent_key=False,
        raw_body=(PROTOBUF, JSON),
        also_answers_in=(PROTOBUF,),
        refusal=refusal,
    )


@_export(
    "/v1/traces",
    answers={
        200: "spans accepted, perhaps not all of them",
        400: "no span could be accepted (`spans_refused`), or the body is no request "
        "(`not_otlp`, `not_gzip`), or one of another signal (`wrong_signal`)",
        429: TOO_MANY,
        503: TOO_SLOW,
    },
    data=ExportedTraces,
)
async def post_traces(request: web.Request) -> web.Response:
    """Ingest spans of instrumented agents over OTLP/HTTP.

    Takes an ExportTraceServiceRequest in protobuf or JSON, optionally compressed
    with gzip, of up to 16 MiB when decompressed and 20,000 spans. The resource
    attribute `agent_runtime.agent_id` names the agent. A trace becomes a turn as soon
    as its root span has arrived and one of its spans names a session (`session.id` or
    `gen_ai.conversation.id`). Spans may arrive late, repeatedly and in any order for
    two hours after the trace's last one; later ones change nothing of a turn.
    A caller with the role `runtime` reports for any agent, a manager of the agent their
    own sessions.

    Answers are those of OTLP, in the encoding of the request: partial success when some
    spans were rejected, an error when all were. In protobuf an error is a
    google.rpc.Status.
    """
    return await _taken(request, TRACES, SPANS)


@_export(
    "/v1/logs",
    answers={
        200: "log records accepted, perhaps not all of them",
        400: "no log record could be accepted (`records_refused`), or the body is no "
        "request (`not_otlp`, `not_gzip`), or one of another signal (`wrong_signal`)",
        429: TOO_MANY,
        503: TOO_SLOW,
    },
    data=ExportedLogs,
)
async def post_logs(request: web.Request) -> web.Response:
    """Ingest log events of Claude Code and Codex over OTLP/HTTP.

    Takes an ExportLogsServiceRequest as `POST /v1/traces` takes spans, with the same
    bounds and rights. The events of a prompt become a turn, as spans would; where spans
    of it come, too, each model call counts once. Other log records are ignored.
    """
    return await _taken(request, LOGS, RECORDS)


@_export(
    "/v1/metrics",
    answers={
        200: "metrics received, and not kept",
        400: "the body is no request (`not_otlp`, `not_gzip`), or one of another "
        "signal (`wrong_signal`)",
        503: TOO_SLOW,
    },
    data=ExportedMetrics,
)
async def post_metrics(request: web.Request) -> web.Response:
    """Receive metrics over OTLP/HTTP, and keep nothing.

    For programs that send all signals to one address. What they cost, spans and log
    events tell.
    """
    async with _received(request, METRICS):
        pass
    return partial_success(request, METRICS, rejected=0, reasons=())


@asynccontextmanager
async def _received(
    request: web.Request, signal: Signal
) -> AsyncIterator[tuple[Any, int]]:
    """Yield the decoded body, and its size, while there is room to work on it."""
    ingest = request.config_dict[INGEST]
    line_s = request.config_dict[WAITS].body_s
    async with holding(ingest.at_once, line_s, "the uploads before this one"):
        async with uploading(request):
            body = await read_export(request)
        is_large = len(body) > LARGE_BYTES_MIN
        async with ingest.alone(line_s) if is_large else nullcontext():
            export = await decoded(body, request.content_type, signal)
            has_many = count_items(export, signal) > LARGE_ITEMS_MIN
            async with (
                ingest.alone(line_s) if has_many and not is_large else nullcontext()
            ):
                yield export, len(body)


async def _taken(request: web.Request, signal: Signal, metric: Counter) -> web.Response:
    async with _received(request, signal) as (export, size):
        outcome, position = await _ingest(request, signal, metric, export, size)
    # Also of a refusal: a trace's turn may have been marked as lacking spans.
    headers = {} if position is None else {POSITION_HEADER: str(position)}
    if outcome.all_rejected:
        message = joined_reasons(outcome.reasons)
        if outcome.all_forbidden:
            raise ForbiddenError(message, headers=headers)
        raise MalformedRequestError(message, code=signal.refused, headers=headers)
    response = partial_success(
        request, signal, rejected=outcome.rejected, reasons=outcome.reasons
    )
    response.headers.update(headers)
    return response


async def _ingest(
    request: web.Request, signal: Signal, metric: Counter, export: Any, size: int
) -> tuple[IngestOutcome, int | None]:
    """Return what became of the items, and the position of the last event."""
    ingest = request.config_dict[INGEST]
    recording = Recording(
        log=ingest.log,
        vault=ingest.vault,
        # The upload may have taken long.
        principal=await authenticate_again(request),
        authenticate=partial(authenticate_again, request),
        metadata=request_metadata(request),
    )
    made = EventSpans(export)
    if signal is LOGS:
        now = datetime.now(UTC)
        made = await as_spans(export, ingest, recording.principal, now)
    try:
        outcome = await ingest.take(made.export, size, recording)
    finally:
        # Also what was recorded before a failure.
        if recording.position is not None:
            remember_write(request, recording.position)
    for reason in made.refused:
        outcome.spans += 1
        outcome.reject(1, reason)
    outcome.count(metric, others=made.others)
    return outcome, recording.position


async def deleting_old_traces(app: web.Application) -> AsyncIterator[None]:
    """Delete old traces while the application runs."""
    task = background_task(
        lambda: keep_deleting_old_traces(app[INGEST].pool), name="old traces"
    )
    yield
    await end_tasks(task)
