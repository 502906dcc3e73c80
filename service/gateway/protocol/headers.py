"""Headers of the stateless revision, which repeat parts of the body."""

import base64
import binascii
import re
from collections.abc import Mapping
from typing import Any, Final

from multidict import CIMultiDictProxy

from service.gateway.protocol.errors import (
    HEADER_MISMATCH,
    INVALID_PARAMS,
    UNSUPPORTED_REVISION,
    RpcError,
)
from service.gateway.protocol.messages import Message
from service.gateway.protocol.revisions import (
    CAPABILITIES_KEY,
    METHOD_HEADER,
    NAME_HEADER,
    PARAMETER_HEADER,
    REVISION_HEADER,
    REVISION_KEY,
    STATELESS,
    SUPPORTED,
)

Headers = CIMultiDictProxy[str]
Mirrored = Mapping[tuple[str, ...], str]
"""Header names without their prefix, by the paths of arguments that they repeat."""

ANNOTATION: Final = "x-mcp-header"


def check_stateless(message: Message, headers: Headers) -> None:
    """Check what every request of the stateless revision has.

    :raises RpcError: a field or header is missing, or they differ
    """
    missing = [
        key for key in (REVISION_KEY, CAPABILITIES_KEY) if key not in message.meta
    ]
    if missing:
        raise RpcError(INVALID_PARAMS, f"params._meta lacks {' and '.join(missing)}")
    revision = message.meta[REVISION_KEY]
    _check(headers, REVISION_HEADER, revision)
    _check(headers, METHOD_HEADER, message.method)
    if revision != STATELESS:
        raise unsupported(revision)
    if not isinstance(message.meta[CAPABILITIES_KEY], dict):
        raise RpcError(INVALID_PARAMS, f"{CAPABILITIES_KEY} must be an object")
    if message.method == "tools/call":
        name = message.params.get("name")
        if decoded(_single(headers, NAME_HEADER)) != name:
            raise _mismatch(NAME_HEADER, "params.name")


def unsupported(revision: Any) -> RpcError:
    return RpcError(
        UNSUPPORTED_REVISION,
        "unsupported protocol version",
        data={"supported": list(SUPPORTED), "requested": revision},
    )


def mirrored_arguments(schema: Any) -> dict[tuple[str, ...], str]:
    """Return which arguments a tool wants repeated, by its input schema."""
    found: dict[tuple[str, ...], str] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [((), schema)]
    while waiting:
        path, node = waiting.pop()
        if not isinstance(node, dict):
            continue
        name = node.get(ANNOTATION)
        if path and isinstance(name, str) and _TOKEN.fullmatch(name):
            found[path] = name
        properties = node.get("properties")
        if isinstance(properties, dict):
            waiting += [((*path, key), each) for key, each in properties.items()]
    return found


def parameter_headers(mirrored: Mirrored, arguments: Any) -> dict[str, str]:
    """Return the headers that repeat arguments."""
    rendered = {
        name: _rendered(_at(arguments, path)) for path, name in mirrored.items()
    }
    return {
        PARAMETER_HEADER + name: encoded(value)
        for name, value in rendered.items()
        if value is not None
    }


def check_parameters(mirrored: Mirrored, arguments: Any, headers: Headers) -> None:
    """Check the headers that repeat arguments.

    :raises RpcError: one is missing, is given twice, or differs
    """
    for path, name in mirrored.items():
        header = PARAMETER_HEADER + name
        given, value = _single(headers, header), _at(arguments, path)
        if not _same(given, value):
            raise _mismatch(header, "arguments." + ".".join(path))


def encoded(value: str) -> str:
    """Return a text as a header value: itself, or base64 where that isn't possible."""
    if _PLAIN.fullmatch(value) and not _ENCODED.fullmatch(value):
        return value
    return f"=?base64?{base64.b64encode(value.encode()).decode()}?="


def decoded(value: str | None) -> str | None:
    """Return the text of a header value; None if it is malformed."""
    match = _ENCODED.fullmatch(value) if value is not None else None
    if match is None:
        return value
    try:
        content = base64.b64decode(match[1], validate=True)
        text = content.decode()
    except (binascii.Error, UnicodeDecodeError):
        return None
    # One text has one form.
    return text if base64.b64encode(content).decode() == match[1] else None


def _check(headers: Headers, name: str, value: Any) -> None:
    if not isinstance(value, str) or _single(headers, name) != value:
        raise _mismatch(name, "the body")


def _single(headers: Headers, name: str) -> str | None:
    values = headers.getall(name, ())
    if len(values) > 1:
        raise RpcError(HEADER_MISMATCH, f"the header {name} is given more than once")
    return values[0] if values else None


def _mismatch(name: str, where: str) -> RpcError:
    return RpcError(HEADER_MISMATCH, f"the header {name} must be equal to {where}")


def _same(given: str | None, value: Any) -> bool:
    rendered, text = _rendered(value), decoded(given)
    if given is None or rendered is None:
        return given is None and rendered is None
    if text is not None and isinstance(value, int | float) and _NUMBER.fullmatch(text):
        return float(text) == value if "." in text else _as_int(text) == value
    return text == rendered


def _as_int(text: str) -> int | None:
    # Python refuses to convert very long ones.
    return int(text) if len(text) <= _DIGITS_MAX else None


def _rendered(value: Any) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _at(arguments: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        if not isinstance(arguments, dict):
            return None
        arguments = arguments.get(key)
    return arguments


_DIGITS_MAX = 32
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_PLAIN = re.compile(r"(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?")
_ENCODED = re.compile(r"=\?base64\?(.*)\?=")
_NUMBER = re.compile(r"-?[0-9]+(?:\.[0-9]+)?")
