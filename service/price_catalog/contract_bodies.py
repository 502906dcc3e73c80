"""Request bodies of contracts with providers."""

from decimal import Decimal
from typing import Annotated, Any, Self, cast

from pydantic import Field, model_validator

from service.price_catalog.bodies import (
    UNIT_OF_AMOUNT,
    ModelName,
    PriceBody,
    ProviderKey,
)
from service.price_catalog.contracts.terms import ContractTerms
from service.price_catalog.periods import PriceValues, decimal_text

DISCOUNT_DECIMAL_PLACES = 10


class ContractBody(PriceBody):
    """A discount, prices of one's own, or both.

    `discount_percent` is off every list price that the contract doesn't fix. Prices
    are as those of the list, and only for one model; `currency` is theirs.
    """

    discount_percent: Annotated[
        Decimal | None, Field(ge=0, le=100, decimal_places=DISCOUNT_DECIMAL_PLACES)
    ] = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.discount_percent is None and not self.has_price:
            raise ValueError("state discount_percent, a price, or both")
        return self

    @property
    def has_price(self) -> bool:
        amounts = (getattr(self, name) for name in UNIT_OF_AMOUNT)
        return self.structure is not None or any(each is not None for each in amounts)

    @property
    def _own_price(self) -> PriceValues:
        """Return the price with the flat amounts of its structure."""
        price: dict[str, Any] = {**self.price, "notes": None}
        for name, unit in UNIT_OF_AMOUNT.items():
            if self.structure is not None and price[name] is None:
                price[name] = decimal_text(self.structure.peak(unit))
        return cast("PriceValues", price)

    @property
    def terms(self) -> ContractTerms:
        return {
            "discount_percent": decimal_text(self.discount_percent),
            "price": self._own_price if self.has_price else None,
            "notes": self.notes,
        }


class NewContract(ContractBody):
    provider: ProviderKey
    model: ModelName | None = None
