"""The decision of an agent's rules on one tool."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from service.tool_rules.glob import matches


class Stance(StrEnum):
    """The decision on a call; ``ask`` holds it until a person answers."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


STANCES: Final = {stance.value: stance for stance in Stance}
STRONGEST_FIRST: Final = (Stance.DENY, Stance.ASK, Stance.ALLOW)
WITHOUT_A_MATCH: Final = Stance.DENY


def matching_rules(stances: Mapping[str, str], tool: str) -> dict[str, Stance]:
    """Return the rules of one connector that match a tool's whole name."""
    return {
        pattern: Stance(stance)
        for pattern, stance in stances.items()
        if matches(pattern, tool)
    }


def decide(matching: Mapping[str, Stance], *, granted: bool) -> Stance:
    """Return the stance that results from the matching rules of one connector.

    Deny beats ask beats allow; the order of rules and how specific they are never
    matter. Without a match, and for a connector that the agent doesn't hold, the
    answer is deny.
    """
    if not granted or not matching:
        return WITHOUT_A_MATCH
    return min(matching.values(), key=STRONGEST_FIRST.index)
