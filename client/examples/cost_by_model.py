"""Show what each model cost in the last 30 days, as a table and as a chart.

    export AGENT_RUNTIME_SERVER=http://127.0.0.1:8080 AGENT_RUNTIME_TOKEN=...
    python cost_by_model.py costs.svg

Of the caller's own sessions and agents; superusers and auditors see all costs.
"""

import os
import sys
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

from agent_runtime_client import AgentRuntime
from svg import Picture, shortened


class Cost(NamedTuple):
    """The known cost of a model in one currency; None if nothing of it is known."""

    model: str
    turns: int
    cost: Decimal | None
    currency: str
    unpriced: str  # why the cost of some turns is unknown


def costs_by_model(runtime: AgentRuntime, first: date, last: date) -> list[Cost]:
    """Return the costs of these days, both included; by currency, highest first."""
    found: list[Cost] = []
    for each in runtime.usage.list(
        from_day=first, until_day=last, group_by=["provider", "model"]
    ):
        model = shortened(f"{each.provider or '?'}/{each.model or '?'}", 30)
        reasons = ", ".join(f"{why.turns} {why.reason}" for why in each.unpriced)
        known = [(part.cost, part.currency) for part in each.known_costs]
        found += [Cost(model, each.turns, *part, reasons) for part in known]
        if not known:
            found.append(Cost(model, each.turns, None, "", reasons))
    return sorted(found, key=lambda each: (each.currency, -(each.cost or 0)))


def table(costs: list[Cost]) -> str:
    """Return a line for each model and currency."""
    lines = [f"{'model':30}  turns            cost       not priced"]
    for model, turns, cost, currency, unpriced in costs:
        amount = "unknown" if cost is None else f"{cost:f}"
        lines.append(f"{model:30} {turns:6} {amount:>15} {currency:5} {unpriced}")
    return "\n".join(lines)


def chart(costs: list[Cost]) -> Picture:
    """Return a bar for each known cost; each currency has a scale of its own."""
    picture = Picture(720, 50 + 30 * len(costs), "Cost by model")
    for row, (model, _, cost, currency, unpriced) in enumerate(costs):
        y = 40 + 30 * row
        picture.text(10, y + 15, model)
        most = max(each.cost or 0 for each in costs if each.currency == currency)
        width = int(300 * cost / most) if cost and most else 0
        picture.box(220, y, width, 22, "#67a9cf", tooltip=unpriced)
        known = [] if cost is None else [f"{cost:f} {currency}"]
        missing = ["unknown"] if unpriced else []
        picture.text(228 + width, y + 15, " + ".join(known + missing))
    return picture


def main() -> None:
    today = datetime.now(UTC).date()
    server, token = (os.environ[f"AGENT_RUNTIME_{x}"] for x in ("SERVER", "TOKEN"))
    with AgentRuntime(server, token) as runtime:
        costs = costs_by_model(runtime, today - timedelta(days=29), today)
    print(table(costs))
    Path(sys.argv[1]).write_text(str(chart(costs)), "utf-8")


if __name__ == "__main__":
    main()
