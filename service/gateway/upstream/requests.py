"""Requests for upstreams, as messages with headers, in the revision of each."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from service.gateway.protocol.headers import encoded
from service.gateway.protocol.revisions import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    IMPLEMENTATION,
    LOG_LEVEL_KEY,
    METHOD_HEADER,
    NAME_HEADER,
    REVISION_KEY,
    STATELESS,
)
from service.gateway.upstream.dialects import Dialect


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamRequest:
    """A request for an upstream: the stateless revision's fields are added to it.

    ``meta`` is for both; ``capabilities`` and ``mirrored``, headers that repeat
    arguments, for stateless upstreams. The progress token is the exchange's id.
    """

    method: str
    params: Mapping[str, Any] = field(repr=False)
    name: str | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    mirrored: Mapping[str, str] = field(default_factory=dict, repr=False)
    wants_progress: bool = False


def body_of(dialect: Dialect, request: UpstreamRequest, number: int) -> bytes:
    meta = dict(request.meta)
    if request.wants_progress:
        meta["progressToken"] = number
    if not dialect.is_stateless:
        meta.pop(LOG_LEVEL_KEY, None)
    else:
        meta[REVISION_KEY] = STATELESS
        meta[CLIENT_KEY] = IMPLEMENTATION
        meta[CAPABILITIES_KEY] = request.capabilities
    params = {**request.params, "_meta": meta} if meta else request.params
    return message_of(request.method, params, number)


def headers_of(dialect: Dialect, request: UpstreamRequest) -> dict[str, str]:
    if not dialect.is_stateless:
        return dialect.headers
    headers = {**dialect.headers, METHOD_HEADER: request.method, **request.mirrored}
    if request.name is not None:
        headers[NAME_HEADER] = encoded(request.name)
    return headers


def message_of(
    method: str, params: Mapping[str, Any], number: int | None = None
) -> bytes:
    """Return a message of JSON-RPC; without a number it is a notification."""
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    return orjson.dumps(message if number is None else {**message, "id": number})
