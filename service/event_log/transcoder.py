"""Event state as JSON, in the library's own notation, through orjson."""

from datetime import datetime
from typing import Any
from uuid import UUID

import orjson
from eventsourcing.persistence import (
    DatetimeAsISO,
    DecimalAsStr,
    JSONTranscoder,
    Transcoder,
    Transcoding,
    UUIDAsHex,
)

_TAG = b'"_type_":'
_TAG_KEYS = {"_type_", "_data_"}
_OPTIONS = (
    orjson.OPT_PASSTHROUGH_DATETIME
    | orjson.OPT_PASSTHROUGH_DATACLASS
    | orjson.OPT_PASSTHROUGH_SUBCLASS
)


class OrjsonTranscoder(Transcoder):
    """Writes what the library's JSONTranscoder reads, and reads what it writes.

    Values that JSON doesn't have are tagged objects
    ``{"_type_": name, "_data_": text}``; the only one in a usual event is its
    timestamp. All other values go through the library's own transcoder.

    Tuples and UUIDs among JSON's own types come back as lists and text: events
    don't carry them.
    """

    def __init__(self) -> None:
        self._library = JSONTranscoder()
        self._tags = 0
        for transcoding in (
            UUIDAsHex(),
            DecimalAsStr(),
            DatetimeAsISO(),
            LookalikeAsPairs(),
        ):
            self.register(transcoding)

    def register(self, transcoding: Transcoding) -> None:
        """Add a transcoding for a further type."""
        self._library.register(transcoding)

    def encode(self, obj: Any) -> bytes:
        """Return compact JSON.

        :raises TranscodingNotRegisteredError: for a value of an unknown type
        """
        self._tags = 0
        try:
            data = orjson.dumps(obj, default=self._tagged, option=_OPTIONS)
        except orjson.JSONEncodeError:
            return self._library.encode(obj)
        if data.count(_TAG) == self._tags:
            return data
        return orjson.dumps(_marked(obj), default=self._tagged, option=_OPTIONS)

    def decode(self, data: bytes) -> Any:
        """Return the value, with tagged objects turned back into their types."""
        tags = data.count(_TAG)
        if tags == 0:
            return orjson.loads(data)
        if tags == 1:
            value = orjson.loads(data)
            timestamp = value.get("timestamp") if isinstance(value, dict) else None
            if isinstance(timestamp, dict) and timestamp.get("_type_") == _TIME.name:
                value["timestamp"] = datetime.fromisoformat(timestamp["_data_"])
                return value
        return self._library.decode(data)

    def _tagged(self, value: Any) -> dict[str, Any]:
        transcoding = self._library.types.get(type(value))
        if transcoding is None:
            raise TypeError(f"{type(value)} has no transcoding")
        self._tags += 1
        data = transcoding.encode(value)
        if type(data) is UUID:
            data = self._tagged(data)
        return {"_type_": transcoding.name, "_data_": data}


class _Lookalike(dict[str, Any]):
    """A plain object that looks like a tagged one."""


class LookalikeAsPairs(Transcoding):
    """Keeps a caller's JSON from being decoded as a tag.

    Without it, ``{"_type_": "datetime_iso", "_data_": "no time"}`` inside a caller's
    JSON would make an event that can't be decoded.
    """

    type = _Lookalike
    name = "plain_object"

    def encode(self, obj: _Lookalike) -> list[Any]:
        return list(obj.items())

    def decode(self, data: list[Any]) -> dict[str, Any]:
        return dict(data)


def _marked(value: Any) -> Any:
    if type(value) is list:
        return [_marked(item) for item in value]
    if type(value) is not dict:
        return value
    marked = {key: _marked(item) for key, item in value.items()}
    return _Lookalike(marked) if marked.keys() == _TAG_KEYS else marked


_TIME = DatetimeAsISO()
