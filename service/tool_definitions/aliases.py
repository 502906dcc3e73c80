"""Names under which agents see the tools of all their connectors."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from typing import Final
from uuid import UUID

from service.connectors.prefixes import prefixes_for

ALIAS_CHARACTERS_MAX: Final = 64
DIGITS: Final = 8
# Of tools with the same first digits, which only somebody who looks for them finds.
MORE_DIGITS: Final = 28


def aliases_of(
    prefixes: Mapping[UUID, str], tools: Iterable[tuple[UUID, str]]
) -> dict[str, tuple[UUID, str]]:
    """Return the tools by alias: at most 64 of ``A-Z a-z 0-9 _ -``.

    An alias is the connector's prefix, ``_`` and the tool's name. A prefix has no
    ``_``, and no two connectors have the same. A name that doesn't fit is cut, and
    digits of its hash follow; also one that ends as if it had such digits, so that no
    upstream gives a tool the alias of another one. A tool's alias never changes to
    another tool, whatever else is listed.
    """
    found: dict[str, tuple[UUID, str]] = {}
    hashed: list[tuple[str, tuple[UUID, str]]] = []
    for connector_id, tool in tools:
        alias = f"{prefixes[connector_id]}_{tool}"
        is_plain = _ALIAS.fullmatch(alias) and not _LOOKS_HASHED.search(tool)
        # As good as never: the ids of two connectors begin with the same digits.
        if is_plain and alias not in found:
            found[alias] = (connector_id, tool)
        else:
            hashed.append((_hashed(alias, _encoded(tool)), (connector_id, tool)))
    shared = Counter(alias for alias, _ in hashed)
    for short, (connector_id, tool) in hashed:
        alias = short
        if shared[short] > 1:
            # None of them gets it: an agent may know it as another's.
            key = connector_id.bytes + _encoded(tool)
            alias = _hashed(f"{prefixes[connector_id]}_{tool}", key, MORE_DIGITS)
        found[alias] = (connector_id, tool)
    return found


def tools_by_alias(
    connector_id: UUID, slug: str, tools: Collection[str]
) -> dict[str, str]:
    """Return the tools of one connector by alias, with either prefix.

    It depends on the agent which of them it has.
    """
    return {
        alias: tool
        for prefix in prefixes_for(connector_id, slug)
        for alias, (_, tool) in aliases_of(
            {connector_id: prefix}, [(connector_id, tool) for tool in tools]
        ).items()
    }


def _encoded(tool: str) -> bytes:
    return tool.encode("utf-8", "surrogatepass")


def _hashed(alias: str, hashed: bytes, digits: int = DIGITS) -> str:
    end = f"_{hashlib.sha256(hashed).hexdigest()[:digits]}"
    return _OTHERS.sub("_", alias)[: ALIAS_CHARACTERS_MAX - len(end)] + end


_ALIAS = re.compile(rf"[A-Za-z0-9_-]{{1,{ALIAS_CHARACTERS_MAX}}}")
_LOOKS_HASHED = re.compile(rf"_([0-9a-f]{{{DIGITS}}}|[0-9a-f]{{{MORE_DIGITS}}})$")
_OTHERS = re.compile(r"[^A-Za-z0-9_-]")
