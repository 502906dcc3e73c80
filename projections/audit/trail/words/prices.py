"""Words about providers and prices."""

from collections.abc import Callable, Mapping
from typing import Any, Final

Named = Callable[[str], str]

AMOUNTS: Final = {
    "input": "input_price_per_1m",
    "output": "output_price_per_1m",
    "cache creation": "cache_creation_price_per_1m",
    "cache read": "cache_read_price_per_1m",
}


def _price(event: Any) -> str:
    amounts = [
        f"{name} {event.price[field]}"
        for name, field in AMOUNTS.items()
        if event.price.get(field) is not None
    ]
    per = ", ".join(amounts) or "nothing known"
    return f"{per} {event.price['currency']} per 1M tokens, {_period(event)}"


def _period(event: Any) -> str:
    until = f" until {event.effective_until}" if event.effective_until else ""
    return f"from {event.effective_from}{until}"


WORDS: Final[Mapping[str, Callable[[Any, Named], str]]] = {
    "provider.added": lambda e, _: f"added the provider {e.display_name!r} ({e.key})",
    "model_pricing.listed": lambda e, _: (
        f"listed the model {e.model!r} of provider {e.provider_key}"
    ),
    "model_pricing.price_set": lambda e, _: (
        f"set a price: {_price(e)} (source: {e.source['name']})"
    ),
    "model_pricing.price_ended": lambda e, _: (
        f"ended price {e.price_version}: it holds {_period(e)}"
    ),
    "model_pricing.price_corrected": lambda e, _: (
        f"corrected price {e.corrects}: {_price(e)} (source: {e.source['name']})"
    ),
    "model_pricing.price_annotated": lambda e, _: (
        f"replaced the notes of price {e.price_version}"
    ),
}
