"""Prices and periods in the sentences of the audit trail."""

from typing import Final

from service.price_catalog.periods import PriceValues

AMOUNTS: Final = {
    "input": "input_price_per_1m",
    "output": "output_price_per_1m",
    "cache creation": "cache_creation_price_per_1m",
    "cache read": "cache_read_price_per_1m",
}


def price_text(price: PriceValues) -> str:
    amounts = [
        f"{name} {amount}"
        for name, field in AMOUNTS.items()
        if (amount := price.get(field)) is not None
    ]
    per = ", ".join(amounts) or "nothing known"
    return f"{per} {price['currency']} per 1M tokens"


def period_text(effective_from: str, effective_until: str | None) -> str:
    until = f" until {effective_until}" if effective_until else ""
    return f"from {effective_from}{until}"
