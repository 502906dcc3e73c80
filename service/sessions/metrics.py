"""Metrics of what turns cost, and of why a cost is unknown."""

from typing import Final

from prometheus_client import Counter

from service.price_catalog.charge import Charge
from service.sessions.turn import Turn

REPORTED_IN: Final = "USD"

PRICED = Counter(
    "agent_runtime_turns_priced_total",
    "Turns by how they were priced: the rule that found the price, or the reason why "
    "there is none. A turn that is decided again after a conflict counts again.",
    ["rule", "unpriced"],
)
COSTS = Counter(
    "agent_runtime_turns_cost_usd_total",
    "Cost of the turns for which an instrumentation reports one: computed by the "
    "service, and as reported. Their difference shows wrong prices.",
    ["computed_by"],
)


def count_turn(turn: Turn, charge: Charge) -> None:
    """Count how a turn was priced; one without a model call isn't counted."""
    if charge.unpriced is None and charge.amount is None:
        return
    rule = "" if charge.unpriced else charge.rule or "several"
    PRICED.labels(rule, charge.unpriced.value if charge.unpriced else "").inc()
    reported = turn.reported_cost
    if reported is not None and charge.currency == REPORTED_IN:
        assert charge.amount is not None
        COSTS.labels("service").inc(float(charge.amount))
        COSTS.labels("instrumentation").inc(float(reported))
