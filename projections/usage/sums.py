"""What is summed up of usage."""

from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Final


@dataclass(slots=True, kw_only=True)
class Sums:
    """Counts, and sums that are None where nothing told them."""

    turns: int = 0
    turns_with_error: int = 0
    turns_without_price: int = 0
    turns_without_usage: int = 0
    model_uses: int = 0
    uses_without_usage: int = 0
    turns_with_differing_cost: int = 0
    uses_estimated: int = 0
    uses_with_prompt_tokens: int = 0
    uses_with_completion_tokens: int = 0
    uses_with_cache_read_tokens: int = 0
    uses_with_cache_creation_tokens: int = 0
    uses_with_reported_cost: int = 0
    uses_with_difference: int = 0
    prompt_tokens: Decimal | None = None
    completion_tokens: Decimal | None = None
    cache_read_tokens: Decimal | None = None
    cache_creation_tokens: Decimal | None = None
    reported_cost: Decimal | None = None
    difference: Decimal | None = None
    differing_cost: Decimal | None = None
    differing_reported_cost: Decimal | None = None


COUNTS: Final = tuple(each.name for each in fields(Sums) if each.default == 0)
SUMS: Final = tuple(each.name for each in fields(Sums) if each.name not in COUNTS)
# Our own costs, which are summed up by currency.
COSTS: Final = ("cost", "estimated_cost")
# Sums that are None where no use tells them, by the count of those that do: what was
# taken back leaves 0.
TELLING: Final = {
    name: f"uses_with_{name}" for name in SUMS if f"uses_with_{name}" in COUNTS
}
