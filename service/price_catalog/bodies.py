"""Request bodies of the price catalog; prices keep every digit."""

import json
from decimal import Decimal
from typing import Annotated, Any, Self

import orjson
from pydantic import AfterValidator, Field

from service.http.requests import RequestModel, Timestamp
from service.price_catalog.periods import (
    NAME_LENGTH_MAX,
    NOTES_LENGTH_MAX,
    PRICE_DECIMAL_PLACES,
    PRICE_LIMIT,
    PriceValues,
    price_values,
)

PROVIDER_KEY_PATTERN = r"^[a-z0-9][a-z0-9._-]{0,127}$"
CURRENCY_PATTERN = r"^[A-Z]{3}$"
# PostgreSQL's text can't hold NUL; the other control characters can't be shown.
NOTES_PATTERN = r"^[^\x00-\x08\x0b-\x1f\x7f]*$"


def _printable(name: str) -> str:
    if not name.isprintable() or name != name.strip():
        raise ValueError("no control characters, no leading or trailing spaces")
    return name


ProviderKey = Annotated[str, Field(pattern=PROVIDER_KEY_PATTERN)]
ModelName = Annotated[
    str,
    Field(min_length=1, max_length=NAME_LENGTH_MAX),
    AfterValidator(_printable),
]
Amount = Annotated[
    Decimal, Field(ge=0, lt=int(PRICE_LIMIT), decimal_places=PRICE_DECIMAL_PLACES)
]


class NewProvider(RequestModel):
    key: ProviderKey
    display_name: Annotated[
        str, Field(min_length=1, max_length=128), AfterValidator(_printable)
    ]


class PriceBody(RequestModel):
    """Prices for 1,000,000 tokens: null is unknown, 0 is free.

    Numbers may also be sent as strings. No digit is lost either way.
    """

    input_price_per_1m: Amount | None = None
    output_price_per_1m: Amount | None = None
    cache_creation_price_per_1m: Amount | None = None
    cache_read_price_per_1m: Amount | None = None
    currency: Annotated[str, Field(pattern=CURRENCY_PATTERN)] = "USD"
    notes: Annotated[
        str | None, Field(max_length=NOTES_LENGTH_MAX, pattern=NOTES_PATTERN)
    ] = None
    effective_from: Timestamp | None = None
    effective_until: Timestamp | None = None

    @classmethod
    def model_validate_json(
        cls, json_data: str | bytes | bytearray, **options: Any
    ) -> Self:
        """Parse JSON without converting amounts to binary floating point."""
        return super().model_validate_json(_with_amounts_quoted(json_data), **options)

    @property
    def price(self) -> PriceValues:
        return price_values(self)


class NewPrice(PriceBody):
    provider: ProviderKey
    model: ModelName


class PriceEnd(RequestModel):
    effective_until: Timestamp | None = None


def _with_amounts_quoted(body: str | bytes | bytearray) -> str | bytes | bytearray:
    """Quote the amounts of a body; an unexpected body is returned unchanged."""
    try:
        # Not bytes, of which json also accepts UTF-16 and UTF-32.
        text = body if isinstance(body, str) else body.decode()
        parsed = json.loads(text, parse_float=_Literal, parse_constant=_refuse)
        if not isinstance(parsed, dict):
            return body
        for name, value in parsed.items():
            if isinstance(value, _Literal):
                parsed[name] = str(value) if name in _AMOUNTS else float(value)
        return orjson.dumps(parsed)
    except (ValueError, TypeError, RecursionError):
        return body


class _Literal(str):
    """The digits of a JSON number."""

    __slots__ = ()


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_AMOUNTS = {name for name in PriceBody.model_fields if "price_per_1m" in name}
