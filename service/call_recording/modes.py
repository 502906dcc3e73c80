"""How calls are recorded."""

from enum import StrEnum


class RecordMode(StrEnum):
    """How much of a call is on record before it is forwarded.

    ``strict``: its admission is an event, before anything is sent.
    ``batched``: many calls share an event, which follows them by up to 100 ms.
    """

    STRICT = "strict"
    BATCHED = "batched"
