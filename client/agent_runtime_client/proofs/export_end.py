"""The end of an export: its last line, or row, without which it was cut off.

The end of an HTTP response isn't enough: a proxy may end one that was cut off as if it
were whole, and a file doesn't have it. In JSON Lines ``{"end":{"until_position":7}}``;
in CSV a row whose first cell is ``end``.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

END: Final = "end"
UNTIL: Final = "until_position"


def end_line(until: int) -> bytes:
    """Return the last line of an export that covers the log up to a position."""
    return json.dumps({END: {UNTIL: until}}, separators=(",", ":")).encode() + b"\n"


def end_of(members: Mapping[str, Any]) -> int | None:
    """Return up to which position a line says that its export is whole.

    None if the line is none that ends an export.
    """
    if members.keys() != {END}:
        return None
    end = members[END]
    until = end.get(UNTIL) if isinstance(end, dict) else None
    return until if type(until) is int and until >= 0 else None
