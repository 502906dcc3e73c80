"""Answers of OTLP/HTTP, in the encoding of the request."""

import re
from collections.abc import Sequence
from typing import Final

import orjson
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from service.sessions.otlp.body import JSON, PROTOBUF
from service.sessions.otlp.signals import Signal

REASONS_MAX: Final = 5
REASON_CHARACTERS_MAX: Final = 300
_NOT_A_PHRASE: Final = re.compile(r"[^ -~]")
# google.rpc codes by HTTP status.
INTERNAL: Final = 13
CODES: Final = {
    400: 3,
    401: 16,
    403: 7,
    409: 10,
    413: 8,
    415: 3,
    422: 3,
    429: 8,
    503: 14,
}


def partial_success(
    request: web.Request, signal: Signal, *, rejected: int, reasons: Sequence[str]
) -> web.Response:
    """Return the number of rejected items and the reasons; empty if there are none."""
    message = joined_reasons(reasons)
    if request.content_type == PROTOBUF:
        # Those of all signals are encoded alike.
        response = ExportTraceServiceResponse()
        if rejected:
            response.partial_success.rejected_spans = rejected
            response.partial_success.error_message = message
        return web.Response(body=response.SerializeToString(), content_type=PROTOBUF)
    partial = {signal.rejected: str(rejected), "errorMessage": message}
    return web.Response(
        body=orjson.dumps({"partialSuccess": partial} if rejected else {}),
        content_type=JSON,
    )


def joined_reasons(reasons: Sequence[str]) -> str:
    """Join the first few distinct reasons."""
    distinct = list(dict.fromkeys(reasons))
    more = "; ..." if len(distinct) > REASONS_MAX else ""
    return "; ".join(distinct[:REASONS_MAX]) + more


def refusal(request: web.Request, envelope: web.Response, message: str) -> web.Response:
    """Convert an error to a google.rpc.Status for a protobuf request.

    Our JSON envelope already is one: it has ``message``, and OTLP clients must ignore
    unknown fields. The reason phrase (RFC 9112, section 4) has the message, too: it is
    all that OpenTelemetry's SDK for Python logs of an answer.
    """
    reason = _NOT_A_PHRASE.sub(" ", message)[:REASON_CHARACTERS_MAX]
    if request.content_type != PROTOBUF:
        envelope.set_status(envelope.status, reason)
        return envelope
    # Encoded like a Status: field 1 is a number, field 2 a string.
    status = ExportTracePartialSuccess(
        rejected_spans=CODES.get(envelope.status, INTERNAL), error_message=message
    )
    return web.Response(
        body=status.SerializeToString(),
        status=envelope.status,
        reason=reason,
        content_type=PROTOBUF,
    )
