"""What a tool's definition leaves of a decision by rules and grant; pure."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from service.tool_definitions.aggregate import Standing
from service.tool_rules.decision import Stance


class PinReason(StrEnum):
    """How a tool's definition changes what its rules say."""

    NEW = "new_definition"
    CHANGED = "definition_changed"
    NONE = "no_such_tool"


HIDDEN: Final[Mapping[Standing | None, PinReason]] = {
    Standing.CHANGED: PinReason.CHANGED,
    Standing.GONE: PinReason.NONE,
    Standing.UNACCEPTABLE: PinReason.NONE,
    None: PinReason.NONE,
}


def decide_pinned(
    stance: Stance,
    matching: Mapping[str, Stance],
    tool: str,
    standing: Standing | None,
    *,
    is_observed: bool,
) -> tuple[Stance, PinReason | None]:
    """Return what is left of a stance with the tool's definition, and why it changes.

    A hidden tool is denied. A new one is allowed only by its exact name: who wrote a
    wildcard has not seen it. Without any observation of the connector there is nothing
    to compare, and the rules' stance stands.
    """
    if not is_observed or standing is Standing.ACCEPTED:
        return stance, None
    if standing is Standing.NEW:
        is_meant = matching.get(tool) is Stance.ALLOW
        if stance is Stance.ALLOW and not is_meant:
            return Stance.ASK, PinReason.NEW
        return stance, None
    return Stance.DENY, HIDDEN[standing]
