"""The match rules of genai-prices; importing this module requires the package."""

from itertools import product
from typing import Any

from genai_prices.types import (
    ClauseAnd,
    ClauseContains,
    ClauseEndsWith,
    ClauseEquals,
    ClauseOr,
    ClauseRegex,
    ClauseStartsWith,
    Provider,
)

from service.price_catalog.match_rules import Clause, ListedRules


def read_rules(provider: Provider) -> ListedRules:
    """Return the rules for a provider's names and those of its models, in order."""
    return ListedRules(
        provider=provider.id,
        rules={
            "by_name": _clause(provider.provider_match),
            "by_model": _clause(provider.model_match),
            "fallbacks": list(provider.fallback_model_providers or ()),
        },
        models=tuple((model.id, _clause(model.match)) for model in provider.models),
    )


def _clause(logic: Any) -> Clause:  # noqa: PLR0911 # one for each kind of clause
    match logic:
        case None:
            return []
        case ClauseOr(or_=parts):
            return [tests for part in parts for tests in _clause(part)]
        case ClauseAnd(and_=parts):
            chosen = product(*map(_clause, parts))
            return [[test for tests in choice for test in tests] for choice in chosen]
        case ClauseEquals(equals=text):
            return [[{"test": "equals", "text": text}]]
        case ClauseStartsWith(starts_with=text):
            return [[{"test": "starts_with", "text": text}]]
        case ClauseEndsWith(ends_with=text):
            return [[{"test": "ends_with", "text": text}]]
        case ClauseContains(contains=text):
            return [[{"test": "contains", "text": text}]]
        case ClauseRegex(regex=text):
            return [[{"test": "regex", "text": text}]]
    raise TypeError(f"{type(logic).__name__} is no known clause")
