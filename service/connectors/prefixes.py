"""What the aliases of a connector's tools begin with, in an agent's list."""

import re
from collections import Counter
from collections.abc import Mapping
from typing import Final
from uuid import UUID

DIGITS: Final = 8
_ENDS_IN_DIGITS: Final = re.compile(rf"-[0-9a-f]{{{DIGITS}}}$")


def prefixes_of(slugs: Mapping[UUID, str]) -> dict[UUID, str]:
    """Return the prefixes of all connectors that an agent has rules for.

    A prefix is the slug. Where two have the same, digits of their ids follow it in
    both; also where a slug ends as if it had such digits, which its owner may have
    chosen to get another connector's prefix.
    """
    shared = Counter(slugs.values())
    return {
        connector_id: slug
        if shared[slug] == 1 and not _ENDS_IN_DIGITS.search(slug)
        else _with_digits(connector_id, slug)
        for connector_id, slug in slugs.items()
    }


def prefixes_for(connector_id: UUID, slug: str) -> tuple[str, str]:
    """Return the prefixes that a connector can have, in the list of one agent or other.

    The longer one, which begins with the other, comes first.
    """
    return _with_digits(connector_id, slug), slug


def _with_digits(connector_id: UUID, slug: str) -> str:
    return f"{slug}-{connector_id.hex[:DIGITS]}"
