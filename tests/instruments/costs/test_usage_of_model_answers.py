"""The figures of answers against what genai-prices extracts from them, and charges."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import pytest

from service.model_gateway.dialects import Dialect
from service.model_gateway.protocol.usage import figures_of
from service.price_catalog.charge import Unpriced
from service.price_catalog.imports.genai_prices.importer import import_genai_prices
from service.price_catalog.pricing import price_call
from tests.instruments.costs.catalog import ImportedCatalog
from tests.unit.model_gateway.usages import counts_of
from tests.unit.price_catalog.test_import_genai_prices import required

extract_usage = required("genai_prices").extract_usage
providers = required("genai_prices.data").providers

AT = datetime(2026, 11, 19, 17, tzinfo=UTC)
ENDPOINTS_OF_OTHERS = ("images", "realtime")
INPUTS = (("prompt_tokens",), ("input_tokens",))
OUTPUTS = (("completion_tokens",), ("output_tokens",))
WRITES = ("cache_creation_input_tokens",)
CONDITIONS = {
    "flex": {"service_tier": "flex"},
    "priority": {"service_tier": "priority"},
    "standard": {"service_tier": "default"},
    "batch": {"processing": "batch"},
    "auto": {},
}

Path = tuple[str, ...]


class Case(NamedTuple):
    provider: Any
    extractor: Any
    dialect: Dialect

    def __str__(self) -> str:
        return f"{self.provider.id}-{self.extractor.api_flavor}-{self.dialect}"


def path_of(mapping: Any) -> Path:
    path = mapping.path
    return (path,) if isinstance(path, str) else tuple(str(step) for step in path)


def dialect_of(extractor: Any) -> Dialect | None:
    """Return the dialect that an extractor reads, None for an API of its own."""
    if extractor.root != "usage" or extractor.api_flavor in ENDPOINTS_OF_OTHERS:
        return None
    needed = [path_of(each) for each in extractor.mappings if each.required]
    if needed == [("prompt_tokens",)]:
        return Dialect.OPENAI_EMBEDDINGS
    if needed == [("prompt_tokens",), ("completion_tokens",)]:
        return Dialect.OPENAI_CHAT
    if needed != [("input_tokens",), ("output_tokens",)]:
        return None
    # Who counts cached tokens beside the others adds them to the input.
    is_split = len(paths_to(extractor, "input_tokens")) > 1
    return Dialect.ANTHROPIC_MESSAGES if is_split else Dialect.OPENAI_RESPONSES


def paths_to(extractor: Any, unit: str) -> set[Path]:
    return {path_of(each) for each in extractor.mappings if each.dest == unit}


def cases() -> Iterator[Case]:
    for provider in providers:
        for extractor in provider.extractors or ():
            dialect = dialect_of(extractor)
            if dialect is not None:
                yield Case(provider, extractor, dialect)


def usage_of(extractor: Any) -> dict[str, Any]:
    """Return a usage with all that is extracted: each count another, no part too large.

    Its total has what is counted beside the completion, too.
    """
    counts = {
        path: 101 + 10 * number
        for number, path in enumerate(
            dict.fromkeys(path_of(each) for each in extractor.mappings)
        )
    }
    counts |= {path: 20_011 for path in INPUTS if path in counts}
    counts |= {path: 9_007 for path in OUTPUTS if path in counts}
    if WRITES in counts:
        counts[WRITES] += sum(
            n for path, n in counts.items() if path[0] == "cache_creation"
        )
    inputs, outputs = (
        paths_to(extractor, each) for each in ("input_tokens", "output_tokens")
    )
    total = sum(counts[path] for path in inputs | outputs)
    usage: dict[str, Any] = {"total_tokens": total}
    for path, count in counts.items():
        *outer, name = path
        parent = usage
        for step in outer:
            parent = parent.setdefault(step, {})
        parent[name] = count
    return usage


ALL = list(cases())
# Their models have no price of output tokens, which the answer counts.
WITHOUT_OUTPUT = ("openai-decisions", "typesafe")


@pytest.fixture(scope="module")
def catalog() -> ImportedCatalog:
    return ImportedCatalog(import_genai_prices())


def answer_of(case: Case, tier: str | None = None) -> dict[str, Any]:
    usage = usage_of(case.extractor)
    answer = {"id": "answer-1", "usage": usage}
    if tier is not None:
        is_message = case.dialect is Dialect.ANTHROPIC_MESSAGES
        (usage if is_message else answer)["service_tier"] = tier
    return answer


def extracted_from(answer: dict[str, Any], case: Case) -> Any:
    return extract_usage(
        answer, provider_id=case.provider.id, api_flavor=case.extractor.api_flavor
    )


def test_every_dialect_is_compared() -> None:
    assert Counter(case.dialect for case in ALL) >= Counter(
        {
            Dialect.OPENAI_CHAT: 40,
            Dialect.OPENAI_RESPONSES: 15,
            Dialect.OPENAI_EMBEDDINGS: 5,
            Dialect.ANTHROPIC_MESSAGES: 5,
        }
    )


@pytest.mark.parametrize("case", ALL, ids=str)
def test_counts_are_those_that_genai_prices_extracts(case: Case) -> None:
    answer = answer_of(case)

    usage = figures_of(case.dialect, answer).usage

    theirs = extracted_from(answer, case).usage
    units = {mapping.dest for mapping in case.extractor.mappings}
    expected = {unit: getattr(theirs, unit) for unit in units}
    if case.dialect is Dialect.OPENAI_EMBEDDINGS:
        expected["output_tokens"] = 0
    assert usage is not None
    assert counts_of(usage) == expected
    assert usage.total_tokens is None


@pytest.mark.parametrize("case", ALL, ids=str)
async def test_all_models_cost_what_genai_prices_charges(
    case: Case, catalog: ImportedCatalog
) -> None:
    compared = 0
    for tier, conditions in CONDITIONS.items():
        answer = answer_of(case, tier)
        usage = figures_of(case.dialect, answer).usage
        assert usage is not None
        assert usage.conditions == conditions
        theirs = extracted_from(answer, case)
        for model in case.provider.models:
            charge = await price_call(
                usage,
                provider=case.provider.id,
                models=(model.id,),
                at=AT,
                catalog=catalog,
            )
            if charge.amount is None:
                # It computes no cost of what has no price, and of what isn't counted.
                assert charge.unpriced in (
                    Unpriced.NO_PRICE_THEN,
                    Unpriced.COUNT_MISSING,
                )
                continue
            try:
                price = theirs.calc_price(
                    model=model,
                    genai_request_timestamp=AT,
                    price_context=conditions,
                )
            except ValueError as error:
                # A count of cached tokens doesn't say how many of them are audio.
                assert "cache_audio_read_tokens" in str(error)  # noqa: PT017
                continue
            assert charge.amount == price.total_price, (model.id, tier)
            compared += 1
    has_models = case.provider.models and case.provider.id not in WITHOUT_OUTPUT
    assert bool(compared) == bool(has_models)


async def test_a_fast_message_costs_what_genai_prices_charges(
    catalog: ImportedCatalog,
) -> None:
    [case] = (each for each in ALL if str(each).startswith("anthropic-default"))
    answer = answer_of(case)
    answer["usage"]["speed"] = "fast"
    usage = figures_of(case.dialect, answer).usage
    assert usage is not None
    theirs = extracted_from(answer, case)
    dearer = 0
    for model in case.provider.models:
        amounts = [
            theirs.calc_price(
                model=model, genai_request_timestamp=AT, price_context=conditions
            ).total_price
            for conditions in ({}, {"speed": "fast"})
        ]
        charge = await price_call(
            usage, provider="anthropic", models=(model.id,), at=AT, catalog=catalog
        )
        assert charge.amount == amounts[1]
        dearer += amounts[0] < amounts[1]
    assert dearer
