"""The registry of tiers as the API shows it."""

from collections.abc import Mapping

from typing_extensions import TypedDict

from service.http.envelope import UuidText


class TierRegistry(TypedDict):
    """The preset of each tier, by the tier's name; ``version`` is 0 before the first.

    ``position`` is the log position of this answer.
    """

    version: int
    position: int
    tiers: dict[str, UuidText]


class TierChange(TypedDict):
    """A tier that stands for another preset; null for none."""

    tier: str
    before: UuidText | None
    after: UuidText | None


class ReplacedTierRegistry(TypedDict):
    """The registry, and what the change made different."""

    version: int
    tiers: dict[str, UuidText]
    changes: list[TierChange]


def tier_changes(
    before: Mapping[str, str], changed: Mapping[str, str | None]
) -> list[TierChange]:
    return [
        {"tier": tier, "before": before.get(tier), "after": preset}
        for tier, preset in changed.items()
    ]
