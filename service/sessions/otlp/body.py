"""Parse the body of an OTLP/HTTP request: protobuf or JSON, optionally gzipped."""

import base64
from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

import orjson
from aiohttp import web
from google.protobuf.descriptor import Descriptor
from google.protobuf.json_format import ParseDict, ParseError
from google.protobuf.message import DecodeError

from service.errors import (
    MalformedRequestError,
    TooLargeError,
    UnsupportedMediaTypeError,
)
from service.http.body import read_upload
from service.http.json_bounds import has_more_parts
from service.pacing import in_thread
from service.sessions.otlp.signals import SIGNALS, Signal, signal_of
from service.sessions.otlp.wire import has_more_fields

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
# Decompressed. SDKs send up to 512 spans at a time.
BODY_BYTES_MAX: Final = 16 * 1024 * 1024
# Larger bodies are decoded in a thread; JSON takes longer, up to 4 ms for each KiB.
INLINE_BYTES_MAX: Final = 256 * 1024
INLINE_JSON_BYTES_MAX: Final = 1024
ITEMS_MAX: Final = 20_000
# To see that a request is of its signal.
LOOKED_AT: Final = 100
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


async def decoded(body: bytes, content_type: str, signal: Signal) -> Any:
    """Decode an exporter's request of a signal, as ``signal.request``.

    :raises TooLargeError: more than ``ITEMS_MAX`` items, ``FIELDS_MAX`` fields or
        ``JSON_PARTS_MAX`` parts
    :raises MalformedRequestError: the body doesn't match its content type, or is a
        request of another signal
    """
    if content_type == PROTOBUF:
        decode, inline_max = from_protobuf, INLINE_BYTES_MAX
    else:
        decode, inline_max = from_json, INLINE_JSON_BYTES_MAX
    if len(body) > inline_max:
        return await in_thread(decode, body, signal)
    return decode(body, signal)


def from_protobuf(body: bytes, signal: Signal) -> Any:
    if has_more_fields(body, FIELDS_MAX, signal.request):
        raise TooLargeError(f"a request has at most {FIELDS_MAX} fields")
    try:
        export = _with_few_items(signal.request.FromString(body), signal)
    except DecodeError:
        export = None
    first = islice(signal.items(export), LOOKED_AT) if export is not None else ()
    if not any(map(signal.is_item, first)):
        other = signal_of(body, FIELDS_MAX, but=signal)
        if other is not None:
            raise _wrong_signal(other)
    if export is None:
        raise MalformedRequestError(
            f"the body is not an {signal.request.DESCRIPTOR.name}", code="not_otlp"
        )
    return export


def from_json(body: bytes, signal: Signal) -> Any:
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
        for item in _items(parsed, signal):
            for name in ID_FIELDS:
                # Protobuf's JSON may write null for what isn't given.
                if item.get(name) is not None:
                    item[name] = _base64(item[name])
            item.pop("links", None)
        export = ParseDict(parsed, signal.request(), ignore_unknown_fields=True)
    except (ParseError, TypeError, ValueError, AttributeError, RecursionError):
        raise MalformedRequestError(
            f"the body is not an {signal.request.DESCRIPTOR.name} in OTLP's JSON"
            " encoding",
            code="not_otlp",
        ) from None
    return _with_few_items(export, signal)


def _with_few_items(export: Any, signal: Signal) -> Any:
    """Bound the work on a request: an empty item has two bytes, and is looked at."""
    if count_items(export, signal) > ITEMS_MAX:
        raise TooLargeError(
            f"a request has at most {ITEMS_MAX} {signal.name}, scopes or resources"
        )
    return export


def count_items(export: Any, signal: Signal) -> int:
    """Return the number of items, or more than ``ITEMS_MAX`` scopes or resources."""
    resources, scopes, items = signal.fields
    of_request = getattr(export, resources)
    count = len(of_request)
    if count <= ITEMS_MAX:
        count = sum(len(getattr(each, scopes)) for each in of_request)
    if count <= ITEMS_MAX:
        count = sum(
            len(getattr(scope, items))
            for each in of_request
            for scope in getattr(each, scopes)
        )
    return count


def _items(parsed: Any, signal: Signal) -> Iterator[dict[str, Any]]:
    """Yield the items of a request in JSON, whose names must be as OTLP wants them."""
    resources, scopes, items = map(_camel, signal.fields)
    for other in SIGNALS:
        name = other.fields[0]
        if other is not signal and (name in parsed or _camel(name) in parsed):
            raise _wrong_signal(other)
    known = signal.request.DESCRIPTOR
    _check_names(parsed, known)
    of_resource = _inner(known, signal.fields[0])
    of_scope = _inner(of_resource, signal.fields[1])
    of_item = _inner(of_scope, signal.fields[2])
    for resource in parsed.get(resources) or ():
        _check_names(resource, of_resource)
        for scope in resource.get(scopes) or ():
            _check_names(scope, of_scope)
            for item in scope.get(items) or ():
                _check_names(item, of_item)
                yield item


def _inner(message: Descriptor, name: str) -> Descriptor:
    found = message.fields_by_name[name].message_type
    assert found is not None
    return found


def _check_names(given: dict[str, Any], known: Descriptor) -> None:
    """Refuse names as in protobuf: ids beside them would be read as base64."""
    for name in given:
        if "_" in name and name in known.fields_by_name:
            raise MalformedRequestError(
                f"OTLP's JSON has names in lowerCamelCase: {_camel(name)}, not {name}",
                code="not_otlp",
            )


def _wrong_signal(signal: Signal) -> MalformedRequestError:
    return MalformedRequestError(
        f"the body has {signal.name}: send them to {signal.address}",
        code="wrong_signal",
    )


def _camel(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.title, others))


def _base64(text: str) -> str:
    try:
        return base64.b64encode(bytes.fromhex(text)).decode()
    except ValueError:
        raise MalformedRequestError(
            "OTLP's JSON has ids in hexadecimal, not base64", code="not_otlp"
        ) from None
