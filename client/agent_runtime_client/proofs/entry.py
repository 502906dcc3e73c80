"""The leaf of an entry: the hash of every column of the log, in one encoding."""

import base64
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from struct import Struct, error
from typing import Any, Final
from uuid import UUID

from agent_runtime_client.proofs.merkle import leaf_hash

ENCODING_VERSION: Final = 1
_FIXED: Final = Struct(">Bq16sqq16s")
_LENGTH: Final = Struct(">q")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


class EntryError(ValueError):
    """The object is not an entry as the service exports it."""


def leaf_of(recorded: Mapping[str, Any]) -> bytes:
    """Return the leaf of an entry, from a line of an export or ``recorded``.

    :raises EntryError: a field is missing or malformed, or the state is there twice
    """
    try:
        recorded_at = datetime.fromisoformat(recorded["recorded_at"])
        texts = [
            str(recorded["topic"]).encode(),
            str(recorded["metadata"]).encode(),
            _state(recorded),
        ]
        fixed = _FIXED.pack(
            ENCODING_VERSION,
            recorded["position"],
            UUID(recorded["aggregate_id"]).bytes,
            recorded["version"],
            (recorded_at - _EPOCH) // _MICROSECOND,
            UUID(recorded["command_id"]).bytes,
        )
    except (KeyError, TypeError, ValueError, AttributeError, error) as cause:
        raise EntryError("not an entry of the log") from cause
    return leaf_hash(fixed + b"".join(_LENGTH.pack(len(text)) + text for text in texts))


def _state(recorded: Mapping[str, Any]) -> bytes:
    if "state" not in recorded:
        return base64.b64decode(recorded["state_base64"], validate=True)
    if "state_base64" in recorded:
        raise EntryError("the state twice")
    return str(recorded["state"]).encode()
