"""The ends of exports: a line behind all entries."""

from collections.abc import Iterable

import orjson

from agent_runtime_client.proofs.export_end import end_line, end_of


def with_end(lines: Iterable[bytes]) -> list[bytes]:
    """Return the lines of an export as it is sent, whatever was done to its entries."""
    listed = list(lines)
    return [*listed, end_line(len(listed))]


def without_end(lines: Iterable[bytes]) -> list[bytes]:
    """Return the lines of a whole export's entries."""
    *entries, end = lines
    assert end_of(orjson.loads(end)) is not None
    return entries
