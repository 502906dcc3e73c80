"""Request bodies of the price catalog; prices keep every digit."""

import json
from typing import Annotated, Any, Self

import orjson
from pydantic import AfterValidator, Field, ValidationInfo, field_validator

from service.http.requests import RequestModel
from service.http.times import Timestamp
from service.http.validation_errors import explained
from service.price_catalog.currencies import CURRENCIES
from service.price_catalog.periods import (
    NAME_LENGTH_MAX,
    NOTES_LENGTH_MAX,
    PriceValues,
    decimal_text,
    price_values,
)
from service.price_catalog.structure_body import Amount, StructureBody

PROVIDER_KEY_PATTERN = explained(
    r"^[a-z0-9][a-z0-9._-]{0,127}$",
    "must be of lower-case letters, digits and . _ -, at most 128, and begin with a "
    "letter or digit",
)
UNIT_OF_AMOUNT = {
    "input_price_per_1m": "input_tokens",
    "output_price_per_1m": "output_tokens",
    "cache_creation_price_per_1m": "cache_write_tokens",
    "cache_read_price_per_1m": "cache_read_tokens",
}
# PostgreSQL's text can't hold NUL; the other control characters can't be shown.
NOTES_PATTERN = explained(
    r"^[^\x00-\x08\x0b-\x1f\x7f]*$",
    "must have no control characters but tabs and line ends",
)


def _printable(name: str) -> str:
    if not name.isprintable() or name != name.strip():
        raise ValueError("no control characters, no leading or trailing spaces")
    return name


def _iso_4217(code: str) -> str:
    if code not in CURRENCIES:
        raise ValueError("not a currency of ISO 4217, such as USD")
    return code


ProviderKey = Annotated[str, Field(pattern=PROVIDER_KEY_PATTERN)]
ModelName = Annotated[
    str,
    Field(min_length=1, max_length=NAME_LENGTH_MAX),
    AfterValidator(_printable),
]
Currency = Annotated[str, Field(json_schema_extra={"enum": sorted(CURRENCIES)})]


class NewProvider(RequestModel):
    key: ProviderKey
    display_name: Annotated[
        str, Field(min_length=1, max_length=128), AfterValidator(_printable)
    ]


class PriceBody(RequestModel):
    """Prices for 1,000,000 tokens: null is unknown, 0 is free.

    Numbers may also be sent as strings. No digit is lost either way. `structure` states
    all rates of a price that has more than these four: tiers by the length of the
    prompt, times of day, units such as audio, service tiers. With it, each of the four
    is null or repeats the rate without tiers, the highest one of all hours, rounded to
    10 decimal places.
    """

    input_price_per_1m: Amount | None = None
    output_price_per_1m: Amount | None = None
    cache_creation_price_per_1m: Amount | None = None
    cache_read_price_per_1m: Amount | None = None
    currency: Annotated[Currency, AfterValidator(_iso_4217)] = "USD"
    notes: Annotated[
        str | None, Field(max_length=NOTES_LENGTH_MAX, pattern=NOTES_PATTERN)
    ] = None
    structure: StructureBody | None = None
    effective_from: Timestamp | None = None
    effective_until: Timestamp | None = None

    @field_validator("structure")
    @classmethod
    def _has_the_amounts(
        cls, structure: StructureBody | None, info: ValidationInfo
    ) -> StructureBody | None:
        for name, unit in UNIT_OF_AMOUNT.items():
            amount = info.data.get(name)
            if structure is None or amount is None:
                continue
            rate = structure.peak(unit)
            if rate is None:
                raise ValueError(f"{name} must be null: {unit} have no rate")
            if amount != rate:
                raise ValueError(f"{name} must be {decimal_text(rate)}, as for {unit}")
        return structure

    @classmethod
    def model_validate_json(
        cls, json_data: str | bytes | bytearray, **options: Any
    ) -> Self:
        """Parse JSON without converting amounts to binary floating point."""
        return super().model_validate_json(_with_amounts_quoted(json_data), **options)

    @property
    def price(self) -> PriceValues:
        structure = self.structure.structure if self.structure else None
        return {**price_values(self), "structure": structure}


class NewPrice(PriceBody):
    provider: ProviderKey
    model: ModelName


class PriceEnd(RequestModel):
    effective_until: Annotated[
        Timestamp | None, Field(description="When it ends; by default now.")
    ] = None


def _with_amounts_quoted(body: str | bytes | bytearray) -> str | bytes | bytearray:
    """Quote the amounts of a body; an unexpected body is returned unchanged."""
    try:
        # Not bytes, of which json also accepts UTF-16 and UTF-32.
        text = body if isinstance(body, str) else body.decode()
        parsed = json.loads(text, parse_float=_Literal, parse_constant=_refuse)
        if not isinstance(parsed, dict):
            return body
        return orjson.dumps(_quoted(parsed))
    except (ValueError, TypeError, RecursionError):
        return body


def _quoted(value: Any, name: str = "") -> Any:
    """Return a value in which amounts are texts and other fractions are floats."""
    if isinstance(value, dict):
        return {key: _quoted(each, key) for key, each in value.items()}
    if isinstance(value, list):
        return [_quoted(each) for each in value]
    if isinstance(value, _Literal):
        return str(value) if name in _AMOUNTS else float(value)
    return value


class _Literal(str):
    """The digits of a JSON number."""

    __slots__ = ()


def _refuse(constant: str) -> None:
    raise ValueError(constant)


_AMOUNTS = {"price", "discount_percent"} | {
    name for name in PriceBody.model_fields if "price_per_1m" in name
}
