"""Names under which an agent sees the tools of all its connectors."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

ALIAS_CHARACTERS_MAX: Final = 64
DIGITS: Final = 8


def aliases_of(
    prefixes: Mapping[UUID, str], tools: Iterable[tuple[UUID, str]]
) -> dict[str, tuple[UUID, str]]:
    """Return the tools by alias: at most 64 of ``A-Z a-z 0-9 _ -``.

    An alias is the connector's prefix, ``_`` and the tool's name. A prefix has no
    ``_``, and no two connectors have the same. A name that doesn't fit is cut, and
    digits of its hash follow. The same tools have the same aliases.
    """
    found: dict[str, tuple[UUID, str]] = {}
    changed: list[tuple[UUID, str]] = []
    for connector_id, tool in tools:
        alias = f"{prefixes[connector_id]}_{tool}"
        if _ALIAS.fullmatch(alias) and alias not in found:
            found[alias] = (connector_id, tool)
        else:
            changed.append((connector_id, tool))
    for connector_id, tool in changed:
        attempt = 0
        # As good as never, unless on purpose: another tool has this very name.
        while (alias := _changed(prefixes[connector_id], tool, attempt)) in found:
            attempt += 1
        found[alias] = (connector_id, tool)
    return found


def _changed(prefix: str, tool: str, attempt: int) -> str:
    hashed = tool.encode("utf-8", "surrogatepass") + bytes(attempt)
    end = "_" + hashlib.sha256(hashed).hexdigest()[:DIGITS]
    alias = _OTHERS.sub("_", f"{prefix}_{tool}")
    return alias[: ALIAS_CHARACTERS_MAX - len(end)] + end


_ALIAS = re.compile(rf"[A-Za-z0-9_-]{{1,{ALIAS_CHARACTERS_MAX}}}")
_OTHERS = re.compile(r"[^A-Za-z0-9_-]")
