"""The trace contexts that the events of a batch were recorded in."""

from collections.abc import Iterable, Iterator
from typing import Any

import orjson


def traceparents_of(items: Iterable[Any]) -> Iterator[str]:
    """Yield what items name, in order: events, or entries as stored.

    Items without metadata, such as bare positions, name none.
    """
    for item in items:
        metadata = getattr(item, "metadata", None)
        if isinstance(metadata, str):
            metadata = orjson.loads(metadata)
        if metadata and (traceparent := metadata.get("traceparent")):
            yield traceparent
