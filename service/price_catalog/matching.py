"""Match the names of a model call with entries of the catalog.

A name is tried in this order, and the rule says which step found the entry:

- ``name``: provider and model are those of an entry.
- ``match``: a clause of the price list matches the model's name. Before that the
  provider may be found by ``provider_alias``, a name that OpenTelemetry or an
  instrumentation uses; by ``provider_match``, a clause for providers; or by
  ``provider_of_model``, from the model's name alone. The name may first lose the
  provider's ``prefix``, or have its date spelled with dashes (``date_form``); and the
  model may be one that the provider offers of a ``fallback_provider``.
"""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date
from functools import cached_property
from typing import Any, Final

from cachetools import LRUCache

from service.price_catalog.match_rules import (
    Clause,
    MatchRules,
    NameTest,
    ProviderRules,
    edition_at,
)

# Names of providers in OpenTelemetry's conventions and OpenInference, where no clause
# of a price list matches them, or a wrong one; then the keys of LiteLLM's price file.
PROVIDER_ALIASES: Final[Mapping[str, tuple[str, ...]]] = {
    "aws.bedrock": ("aws", "bedrock", "bedrock_converse"),
    "aws_bedrock": ("aws", "bedrock", "bedrock_converse"),
    "amazon_bedrock": ("aws", "bedrock", "bedrock_converse"),
    "azure.ai.inference": ("azure", "azure_ai"),
    "azure.ai.openai": ("azure",),
    "azure_openai": ("azure",),
    "az.ai.inference": ("azure", "azure_ai"),
    "az.ai.openai": ("azure",),
    "gcp.gemini": ("google", "gemini"),
    "gcp.gen_ai": ("google", "gemini", "vertex_ai-language-models"),
    "gcp.vertex_ai": ("google", "vertex_ai-language-models"),
    "vertexai": ("google", "vertex_ai-language-models"),
    "vertex_ai": ("google", "vertex_ai-language-models"),
    "google_genai": ("google", "gemini"),
    "ibm.watsonx.ai": ("watsonx",),
    "mistral_ai": ("mistral",),
    "mistralai": ("mistral",),
    "moonshot_ai": ("moonshotai", "moonshot"),
    "together_ai": ("together", "together_ai"),
    "x_ai": ("x-ai", "xai"),
    "xai": ("x-ai", "xai"),
}
# It calls the provider that the model's prefix names.
GATEWAY: Final = "litellm"
FOUND_MAX: Final = 10_000
EDITIONS_MAX: Final = 16
_INDEXES: Final[LRUCache[int, "Index"]] = LRUCache(4)
_COMPACT_DATE: Final = re.compile(
    r"-(20\d{2})(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?=-|:|$)"
)


@dataclass(frozen=True, slots=True)
class MatchedModel:
    """A model of the catalog that a name may mean, and the rule that says so.

    ``seller`` is the provider that was called, if it offers the model of another one.
    """

    provider: str
    model: str
    rule: str
    seller: str | None = None


def index_of(rules: MatchRules) -> "Index":
    """Return the compiled rules, cached until they change."""
    # Applied events replace this object; it is shared by all copies of a state.
    key = id(rules.models)
    index = _INDEXES.get(key)
    if index is None or index.rules.models is not rules.models:
        index = _INDEXES[key] = Index(rules)
    return index


class Index:
    """Compiled rules; what a name matches is cached."""

    def __init__(self, rules: MatchRules) -> None:
        self.rules = rules
        starts = {
            start
            for editions in (*rules.rules.values(), *_models(rules))
            for start, _ in editions
        }
        self._starts = sorted(starts)
        self._editions: LRUCache[int, _Edition] = LRUCache(EDITIONS_MAX)
        self._found: LRUCache[tuple[int, str | None, str], MatchedModel | None]
        self._found = LRUCache(FOUND_MAX)

    def find(self, provider: str | None, model: str, at: str) -> MatchedModel | None:
        """Return the entry that names match by the rules that hold at a time."""
        number = bisect_right(self._starts, at)
        key = (number, provider, model)
        if key not in self._found:
            edition = self._editions.get(number)
            if edition is None:
                edition = self._editions[number] = _Edition(self.rules, at)
            self._found[key] = edition.find(provider, model)
        return self._found[key]


def names_of(provider: str, model: str) -> Iterator[MatchedModel]:
    """Yield the entries that may have a call's names in another form."""
    lower = provider.strip().lower()
    for key in dict.fromkeys((lower, *PROVIDER_ALIASES.get(lower, ()))):
        rule = "name" if key == lower else "provider_alias+name"
        for name in dict.fromkeys((model, model.lower())):
            if (key, name) != (provider, model):
                yield MatchedModel(key, name, rule)
        prefix, slash, rest = model.partition("/")
        if slash and prefix.lower() in (lower, key):
            yield MatchedModel(key, rest, f"{rule}+prefix")
    prefix, slash, rest = model.partition("/")
    if lower == GATEWAY and slash:
        yield MatchedModel(prefix.lower(), rest, "name+prefix")


def _models(rules: MatchRules) -> Iterator[list[list[Any]]]:
    for models in rules.models.values():
        yield from models.values()


class _Edition:
    """The rules that hold at one time."""

    def __init__(self, rules: MatchRules, at: str) -> None:
        self._providers: dict[str, ProviderRules] = {
            provider: found
            for provider in rules.providers
            if (found := edition_at(rules.rules.get(provider), at)) is not None
        }
        self._models = {
            provider: _Models(
                (model, clause)
                for model in rules.orders.get(provider, ())
                if (clause := edition_at(rules.models[provider].get(model), at))
            )
            for provider in self._providers
        }

    def find(self, provider: str | None, model: str) -> MatchedModel | None:
        model = model.lower()
        prefix, slash, rest = model.partition("/")
        if provider is None or provider.lower() == GATEWAY:
            return self._by_model(model)
        known = self._provider(provider)
        if known is None:
            return None
        key, rule = known
        if found := self._model(key, model):
            return replace(found, rule=rule + found.rule)
        if slash and self._is_prefix(prefix, key) and (found := self._model(key, rest)):
            return replace(found, rule=f"{rule}prefix+{found.rule}")
        return None

    def _by_model(self, model: str) -> MatchedModel | None:
        prefix, slash, rest = model.partition("/")
        if slash and (known := self._provider(prefix)):
            key, rule = known
            found = self._model(key, rest)
            rule += "prefix"
        else:
            found, rule = None, "provider_of_model"
            for key, rules in self._providers.items():
                if _matches(rules["by_model"], model):
                    found = self._model(key, model)
                    break
        return found and replace(found, rule=f"{rule}+{found.rule}")

    def _is_prefix(self, prefix: str, provider: str) -> bool:
        """Return whether a prefix names a provider, or one whose models it offers."""
        names = {provider, *self._providers[provider]["fallbacks"]}
        return not names.isdisjoint((prefix, *PROVIDER_ALIASES.get(prefix, ())))

    def _provider(self, name: str) -> tuple[str, str] | None:
        """Return a provider's key, and the beginning of the rule that found it."""
        lower = name.strip().lower()
        if lower in self._providers:
            return lower, ""
        for key in PROVIDER_ALIASES.get(lower, ()):
            if key in self._providers:
                return key, "provider_alias+"
        for key, rules in self._providers.items():
            if _matches(rules["by_name"], lower):
                return key, "provider_match+"
        return None

    def _model(self, provider: str, name: str) -> MatchedModel | None:
        dashed = _COMPACT_DATE.sub(_with_dashes, name)
        for text, rule in ((name, ""), (dashed, "date_form+")):
            if found := self._models[provider].find(text):
                return MatchedModel(provider, found, f"{rule}match")
            for other in self._providers[provider]["fallbacks"]:
                if other in self._models and (found := self._models[other].find(text)):
                    return MatchedModel(
                        other,
                        found,
                        f"{rule}fallback_provider+match",
                        seller=provider,
                    )
        return None


class _Models:
    """The rules of a provider's models; the first one that matches counts."""

    def __init__(self, listed: Iterable[tuple[str, Clause]]) -> None:
        self._listed = list(listed)

    def find(self, name: str) -> str | None:
        equal = self._by_name.get(name)
        for rank, tests in self._others:
            if equal is not None and rank >= equal:
                break
            if all(_passes(test, name) for test in tests):
                return self._listed[rank][0]
        return None if equal is None else self._listed[equal][0]

    @cached_property
    def _by_name(self) -> dict[str, int]:
        """Return the first model for each name that a rule spells out."""
        found: dict[str, int] = {}
        for rank, tests in self._alternatives():
            if _is_name(tests):
                found.setdefault(tests[0]["text"].lower(), rank)
        return found

    @cached_property
    def _others(self) -> list[tuple[int, list[NameTest]]]:
        return [each for each in self._alternatives() if not _is_name(each[1])]

    def _alternatives(self) -> Iterator[tuple[int, list[NameTest]]]:
        for rank, (_, clause) in enumerate(self._listed):
            for tests in clause:
                yield rank, tests


def _is_name(tests: list[NameTest]) -> bool:
    return len(tests) == 1 and tests[0]["test"] == "equals"


def _matches(clause: Clause, name: str) -> bool:
    return any(all(_passes(test, name) for test in tests) for tests in clause)


def _passes(test: NameTest, name: str) -> bool:
    text = test["text"].lower()
    match test["test"]:
        case "equals":
            return name == text
        case "starts_with":
            return name.startswith(text)
        case "ends_with":
            return name.endswith(text)
        case "contains":
            return text in name
        case _:
            return re.search(test["text"], name) is not None


def _with_dashes(found: re.Match[str]) -> str:
    try:
        day = date(int(found[1]), int(found[2]), int(found[3]))
    except ValueError:
        return found[0]
    return f"-{day.isoformat()}"
