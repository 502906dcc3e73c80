"""Event state as JSON, in the library's own notation, through orjson."""

from datetime import datetime
from typing import Any

import orjson
from eventsourcing.persistence import (
    DatetimeAsISO,
    DecimalAsStr,
    Transcoder,
    Transcoding,
    TranscodingNotRegisteredError,
    UUIDAsHex,
)

_TAG = b'"_type_":'


class OrjsonTranscoder(Transcoder):
    """Writes what the library's JSONTranscoder reads, and reads what it writes.

    Values that JSON doesn't have are tagged objects
    ``{"_type_": name, "_data_": text}``; the only one in a usual event is its
    timestamp.
    """

    def __init__(self) -> None:
        self._by_type: dict[type[Any], Transcoding] = {}
        self._by_name: dict[str, Transcoding] = {}
        for transcoding in (UUIDAsHex(), DecimalAsStr(), DatetimeAsISO()):
            self.register(transcoding)

    def register(self, transcoding: Transcoding) -> None:
        """Teach this transcoder a further type."""
        self._by_type[transcoding.type] = transcoding
        self._by_name[transcoding.name] = transcoding

    def encode(self, obj: Any) -> bytes:
        """Return compact JSON.

        :raises TranscodingNotRegisteredError: for a value of an unknown type
        """
        try:
            return orjson.dumps(obj, default=self._tagged, option=_OPTIONS)
        except orjson.JSONEncodeError as error:
            raise TranscodingNotRegisteredError(str(error)) from error

    def decode(self, data: bytes) -> Any:
        """Return the value, with tagged objects turned back into their types."""
        value = orjson.loads(data)
        tags = data.count(_TAG)
        if tags == 0:
            return value
        if tags == 1 and isinstance(value, dict):
            timestamp = value.get("timestamp")
            if isinstance(timestamp, dict) and timestamp.get("_type_") == _TIME.name:
                value["timestamp"] = datetime.fromisoformat(timestamp["_data_"])
                return value
        return self._untagged(value)

    def _tagged(self, value: Any) -> dict[str, Any]:
        transcoding = self._by_type.get(type(value))
        if transcoding is None:
            raise TypeError(f"no transcoding for {type(value)}")
        return {"_type_": transcoding.name, "_data_": transcoding.encode(value)}

    def _untagged(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._untagged(item) for item in value]
        if not isinstance(value, dict):
            return value
        plain = {key: self._untagged(item) for key, item in value.items()}
        if plain.keys() != {"_type_", "_data_"}:
            return plain
        try:
            transcoding = self._by_name[plain["_type_"]]
        except (KeyError, TypeError) as error:
            raise TranscodingNotRegisteredError(
                f"no transcoding named {plain['_type_']}"
            ) from error
        return transcoding.decode(plain["_data_"])


_TIME = DatetimeAsISO()
_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME
