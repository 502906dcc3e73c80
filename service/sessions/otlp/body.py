"""Parse the body of an OTLP/HTTP request: protobuf or JSON, optionally gzipped."""

import base64
from collections.abc import Iterator
from typing import Any, Final

import orjson
from aiohttp import web
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
)

from service.errors import (
    MalformedRequestError,
    TooLargeError,
    UnsupportedMediaTypeError,
)
from service.http.body import read_upload
from service.http.json_bounds import has_more_parts
from service.pacing import in_thread
from service.sessions.otlp.wire import has_more_fields

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
# Decompressed. SDKs send up to 512 spans at a time.
BODY_BYTES_MAX: Final = 16 * 1024 * 1024
# Larger bodies are decoded in a thread; JSON takes longer, up to 4 ms for each KiB.
INLINE_BYTES_MAX: Final = 256 * 1024
INLINE_JSON_BYTES_MAX: Final = 1024
SPANS_MAX: Final = 20_000
# A span with 20 attributes has about 90 fields, and 250 parts in JSON.
FIELDS_MAX: Final = 1_000_000
JSON_PARTS_MAX: Final = 1_500_000
ID_FIELDS: Final = ("traceId", "spanId", "parentSpanId")


async def read_export(request: web.Request) -> bytes:
    """Read an exporter's request, decompressed.

    :raises UnsupportedMediaTypeError: neither protobuf nor JSON, or compressed by
        anything but gzip
    :raises TooLargeError: more than ``BODY_BYTES_MAX``, decompressed
    """
    if request.content_type not in (PROTOBUF, JSON):
        raise UnsupportedMediaTypeError(f"the body must be {PROTOBUF} or {JSON}")
    return await read_upload(request, BODY_BYTES_MAX, may_be_gzip=True)


async def decoded(body: bytes, content_type: str) -> ExportTraceServiceRequest:
    """Decode an exporter's request.

    :raises TooLargeError: more than ``SPANS_MAX`` spans, ``FIELDS_MAX`` fields or
        ``JSON_PARTS_MAX`` parts
    :raises MalformedRequestError: the body doesn't match its content type
    """
    if content_type == PROTOBUF:
        decode, inline_max = _from_protobuf, INLINE_BYTES_MAX
    else:
        decode, inline_max = _from_json, INLINE_JSON_BYTES_MAX
    if len(body) > inline_max:
        return await in_thread(decode, body)
    return decode(body)


def _with_few_spans(export: ExportTraceServiceRequest) -> ExportTraceServiceRequest:
    """Bound the work on a request: an empty span has two bytes, and is looked at."""
    count = len(export.resource_spans)
    if count <= SPANS_MAX:
        count = sum(len(each.scope_spans) for each in export.resource_spans)
    if count <= SPANS_MAX:
        count = sum(
            len(scope.spans)
            for each in export.resource_spans
            for scope in each.scope_spans
        )
    if count > SPANS_MAX:
        raise TooLargeError(
            f"a request has at most {SPANS_MAX} spans, scopes or resources"
        )
    return export


def _from_protobuf(body: bytes) -> ExportTraceServiceRequest:
    if has_more_fields(body, FIELDS_MAX):
        raise TooLargeError(f"a request has at most {FIELDS_MAX} fields")
    try:
        export = ExportTraceServiceRequest.FromString(body)
    except DecodeError:
        raise MalformedRequestError(
            "the body is not an ExportTraceServiceRequest", code="not_otlp"
        ) from None
    return _with_few_spans(export)


def _from_json(body: bytes) -> ExportTraceServiceRequest:
    if has_more_parts(body, JSON_PARTS_MAX):
        raise TooLargeError(
            f"a request has at most {JSON_PARTS_MAX} values, names and brackets"
        )
    try:
        parsed = orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedRequestError(
            f"the body is not JSON: {error.msg}", code="not_json"
        ) from None
    try:
        # OTLP's JSON has ids in hexadecimal, protobuf's JSON in base64.
        for span in _spans(parsed):
            for name in ID_FIELDS:
                # Protobuf's JSON may write null for what isn't given.
                if span.get(name) is not None:
                    span[name] = _base64(span[name])
            span.pop("links", None)
        export = ParseDict(
            parsed, ExportTraceServiceRequest(), ignore_unknown_fields=True
        )
    except (ParseError, TypeError, ValueError, AttributeError, RecursionError):
        raise MalformedRequestError(
            "the body is not an ExportTraceServiceRequest in OTLP's JSON encoding",
            code="not_otlp",
        ) from None
    return _with_few_spans(export)


def _spans(parsed: Any) -> Iterator[dict[str, Any]]:
    for resource in parsed.get("resourceSpans") or ():
        for scope in resource.get("scopeSpans") or ():
            yield from scope.get("spans") or ()


def _base64(text: str) -> str:
    return base64.b64encode(bytes.fromhex(text)).decode()
