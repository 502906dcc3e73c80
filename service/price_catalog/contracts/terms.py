"""The terms of a contract with a provider: a discount, prices of one's own, or both."""

from typing import Final

from typing_extensions import TypedDict

from service.events import DecimalText
from service.price_catalog.periods import PriceValues, Span, price_text

ALL_MODELS: Final = ""


class ContractTerms(TypedDict):
    """What a contract says of list prices.

    ``price`` has the rates that it fixes; all others are those of the list, less
    ``discount_percent``. Null fixes nothing, and gives no discount of its own.
    """

    discount_percent: DecimalText | None
    price: PriceValues | None
    notes: str | None


class ContractPeriod(Span):
    """The terms of a contract for a time."""

    terms: ContractTerms


def terms_text(terms: ContractTerms) -> str:
    """Describe terms in a sentence of the audit trail."""
    parts = []
    if terms["price"] is not None:
        parts.append(price_text(terms["price"]))
    if terms["discount_percent"] is not None:
        parts.append(f"a discount of {terms['discount_percent']} %")
    return ", and ".join(parts)


def model_text(model: str | None) -> str:
    return "all models" if model is None else f"the model {model!r}"
