"""Answers of OTLP/HTTP, in the encoding of the request."""

from collections.abc import Sequence
from typing import Final

import orjson
from aiohttp import web
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from service.sessions.otlp.body import JSON, PROTOBUF

REASONS_MAX: Final = 5
# Codes of google.rpc by HTTP status.
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
    request: web.Request, *, rejected: int, reasons: Sequence[str]
) -> web.Response:
    """Answer with how many spans were refused, and why; nothing when none was."""
    words = said(reasons)
    if request.content_type == PROTOBUF:
        response = ExportTraceServiceResponse()
        if rejected:
            response.partial_success.rejected_spans = rejected
            response.partial_success.error_message = words
        return web.Response(body=response.SerializeToString(), content_type=PROTOBUF)
    told = {"rejectedSpans": str(rejected), "errorMessage": words}
    return web.Response(
        body=orjson.dumps({"partialSuccess": told} if rejected else {}),
        content_type=JSON,
    )


def said(reasons: Sequence[str]) -> str:
    """Join different reasons, the first few of them."""
    different = list(dict.fromkeys(reasons))
    more = "; ..." if len(different) > REASONS_MAX else ""
    return "; ".join(different[:REASONS_MAX]) + more


def refusal(request: web.Request, envelope: web.Response, message: str) -> web.Response:
    """Turn a refusal into a google.rpc.Status for those who sent protobuf.

    In JSON our envelope is one already: it has ``message``, and OTLP tells clients
    to pass over fields that they don't know.
    """
    if request.content_type != PROTOBUF:
        return envelope
    # On the wire this is a Status: a number 1 and a text 2.
    status = ExportTracePartialSuccess(
        rejected_spans=CODES.get(envelope.status, INTERNAL), error_message=message
    )
    return web.Response(
        body=status.SerializeToString(),
        status=envelope.status,
        content_type=PROTOBUF,
    )
