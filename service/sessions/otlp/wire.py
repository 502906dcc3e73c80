"""Count the fields of an export in protobuf's wire format, before it is decoded.

Decoding makes a message of every two bytes, if they are empty ones: that would take a
hundred times the memory of the body.
"""

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, TypeAlias

from google.protobuf.descriptor import Descriptor

FIELD_BYTES_MIN: Final = 2
VARINT_BITS_MAX: Final = 70
_WIRE_TYPE: Final = 7
_VARINT: Final = 0
_BYTES: Final = 2
# Bytes after the tag, or the number, of a field; a group has fields of its own.
_SIZES: Final = {_VARINT: 0, 1: 8, 3: 0, 4: 0, 5: 4}
_CONTINUED: Final = 0x80

Messages: TypeAlias = "Mapping[int, Messages]"
"""The fields of a message that are messages, by number."""


def has_more_fields(body: bytes, fields_max: int, request: type[Any]) -> bool:
    """Say whether a request has more fields than a maximum, in all its messages.

    Stops at the first fault, as decoding does, which reports it.
    """
    if len(body) <= FIELD_BYTES_MIN * fields_max:
        return False
    try:
        fields = _fields(body, _messages_of(request.DESCRIPTOR))
        return any(True for _ in islice(fields, fields_max, None))
    except (IndexError, KeyError):
        return False


def _fields(body: bytes, messages: Messages) -> Iterator[int]:
    """Yield the tag of each field, those of inner messages after their own.

    :raises IndexError: the body, or a message in it, ends too early
    :raises KeyError: a field has an unknown wire type
    """
    position, end = 0, len(body)
    outer: list[tuple[int, Messages]] = []
    while True:
        while position == end:
            if not outer:
                return
            end, messages = outer.pop()
        tag, position = _varint(body, position)
        yield tag
        kind = tag & _WIRE_TYPE
        size = 0
        if kind in (_BYTES, _VARINT):
            size, position = _varint(body, position)
        if kind != _BYTES:
            position += _SIZES[kind]
        elif tag >> 3 in messages:
            outer.append((end, messages))
            end, messages = min(position + size, end), messages[tag >> 3]
        else:
            position += size
        if position > end:
            raise IndexError


def _varint(body: bytes, position: int) -> tuple[int, int]:
    byte = body[position]
    if byte < _CONTINUED:
        return byte, position + 1
    value = byte - _CONTINUED
    for shift in range(7, VARINT_BITS_MAX, 7):
        position += 1
        byte = body[position]
        value |= (byte & (_CONTINUED - 1)) << shift
        if byte < _CONTINUED:
            return value, position + 1
    raise IndexError


def _messages_of(message: Descriptor) -> Messages:
    if message.full_name not in _KNOWN:
        # A value can hold values.
        _KNOWN[message.full_name] = found = {}
        for field in message.fields:
            if field.message_type is not None:
                found[field.number] = _messages_of(field.message_type)
    return _KNOWN[message.full_name]


_KNOWN: Final[dict[str, dict[int, Messages]]] = {}
