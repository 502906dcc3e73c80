"""Names under which an agent sees the tools of all its connectors."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final
from uuid import UUID

ALIAS_CHARACTERS_MAX: Final = 64
DIGITS: Final = 8


def aliases_of(
    slugs: Mapping[UUID, str], tools: Iterable[tuple[UUID, str]]
) -> dict[str, tuple[UUID, str]]:
    """Return the tools by alias: at most 64 of ``A-Z a-z 0-9 _ -``.

    An alias is the connector's slug, ``_`` and the tool's name. A slug has no ``_``; if
    two connectors have the same, digits of their ids follow it, so that an alias never
    becomes that of another connector's tool. A name that doesn't fit is cut, and digits
    of its hash follow. The same tools have the same aliases.
    """
    shared = Counter(slugs.values())
    prefixes = {
        connector_id: slug
        if shared[slug] == 1
        else f"{slug}-{connector_id.hex[:DIGITS]}"
        for connector_id, slug in slugs.items()
    }
    found: dict[str, tuple[UUID, str]] = {}
    changed: list[tuple[UUID, str]] = []
    for connector_id, tool in tools:
        alias = f"{prefixes[connector_id]}_{tool}"
        if _ALIAS.fullmatch(alias) and alias not in found:
            found[alias] = (connector_id, tool)
        else:
            changed.append((connector_id, tool))
    for connector_id, tool in changed:
        digits = DIGITS
        alias = _changed(prefixes[connector_id], tool, digits)
        # As good as never: another tool has this very name.
        while alias in found:
            digits += DIGITS
            alias = _changed(prefixes[connector_id], tool, digits)
        found[alias] = (connector_id, tool)
    return found


def _changed(prefix: str, tool: str, digits: int) -> str:
    end = (
        "_" + hashlib.sha256(tool.encode("utf-8", "surrogatepass")).hexdigest()[:digits]
    )
    alias = _OTHERS.sub("_", f"{prefix}_{tool}")
    return alias[: ALIAS_CHARACTERS_MAX - len(end)] + end


_ALIAS = re.compile(rf"[A-Za-z0-9_-]{{1,{ALIAS_CHARACTERS_MAX}}}")
_OTHERS = re.compile(r"[^A-Za-z0-9_-]")
