"""How much of a sum of costs is exact, estimated, and unknown."""

from collections.abc import Sequence
from decimal import Decimal

from typing_extensions import TypedDict

from projections.usage.queries import UsageOfGroup
from service.price_catalog.charge import EXACT


class CurrencyCost(TypedDict):
    currency: str
    cost: Decimal


class KnownPart(TypedDict):
    """A part of the known costs.

    Turns are counted for each model. `share_of_cost` is null without a cost, and with
    costs in several currencies.
    """

    turns: int
    share_of_turns: float | None
    costs: list[CurrencyCost]
    share_of_cost: float | None


class UnknownPart(TypedDict):
    """Turns without a cost, counted for each model: `unpriced` has the reasons."""

    turns: int
    share_of_turns: float | None


class Completeness(TypedDict):
    """What of a cost is exact, what an estimate, and what is unknown.

    An estimate depends on something that the telemetry doesn't tell for certain:
    `estimated` of the turn names it.
    """

    exact: KnownPart
    estimated: KnownPart
    unknown: UnknownPart


def completeness(group: UsageOfGroup) -> Completeness:
    unknown = sum(group.unpriced.values())
    exact = group.model_uses - group.uses_estimated - unknown
    exact_costs = [
        EXACT.subtract(cost, estimated)
        for cost, estimated in zip(group.costs, group.estimated_costs, strict=True)
    ]
    return {
        "exact": _known(group, exact, exact_costs),
        "estimated": _known(group, group.uses_estimated, group.estimated_costs),
        "unknown": {"turns": unknown, "share_of_turns": _share(unknown, group)},
    }


def known_costs(
    currencies: Sequence[str], costs: Sequence[Decimal]
) -> list[CurrencyCost]:
    return [
        {"currency": currency, "cost": cost}
        for currency, cost in zip(currencies, costs, strict=True)
    ]


def _known(group: UsageOfGroup, uses: int, costs: Sequence[Decimal]) -> KnownPart:
    return {
        "turns": uses,
        "share_of_turns": _share(uses, group),
        "costs": known_costs(group.currencies, costs),
        "share_of_cost": (
            float(costs[0] / group.costs[0])
            if len(costs) == 1 and group.costs[0]
            else None
        ),
    }


def _share(uses: int, group: UsageOfGroup) -> float | None:
    return uses / group.model_uses if group.model_uses else None
