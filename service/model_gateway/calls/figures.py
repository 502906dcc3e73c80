"""What a model's answer says of itself."""

from dataclasses import dataclass
from decimal import Decimal

from service.price_catalog.usage import ModelCallUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What an answer says of itself: its usage, the model that it names, its id.

    ``reported_cost`` is what the provider says that it costs, in US dollars.
    """

    usage: ModelCallUsage | None = None
    model: str | None = None
    response_id: str | None = None
    reported_cost: Decimal | None = None
