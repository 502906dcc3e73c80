"""Metrics of what turns cost, and of why a cost is unknown."""

from prometheus_client import Counter

from service.price_catalog.charge import Charge
from service.sessions.cost import REPORTED_IN, costs_differ
from service.sessions.turn import Turn

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
ESTIMATED = Counter(
    "agent_runtime_turns_estimated_total",
    "Turns whose cost is an estimate, by what the telemetry didn't tell for certain "
    "though the price depends on it; a turn counts for each.",
    ["untold"],
)
DIFFERING = Counter(
    "agent_runtime_turns_cost_differing_total",
    "Turns whose cost differs by more than 1 % from what the instrumentation reports.",
)


def count_turn(turn: Turn, charge: Charge) -> None:
    """Count how a turn was priced; one without a model call isn't counted."""
    if charge.unpriced is None and charge.amount is None:
        return
    rule = "" if charge.unpriced else charge.rule or "several"
    PRICED.labels(rule, charge.unpriced.value if charge.unpriced else "").inc()
    for name in charge.estimated:
        ESTIMATED.labels(name).inc()
    reported = turn.reported_cost
    if costs_differ(
        charge.amount,
        charge.currency,
        reported,
        list_cost=charge.list_amount,
        list_currency=charge.list_currency,
    ):
        DIFFERING.inc()
    if reported is not None and charge.currency == REPORTED_IN:
        assert charge.amount is not None
        COSTS.labels("service").inc(float(charge.amount))
        COSTS.labels("instrumentation").inc(float(reported))
