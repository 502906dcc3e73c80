"""Names that providers answer with, and the entries of the catalog that they mean."""

from datetime import timedelta

import pytest

from service.price_catalog.charge import Unpriced
from service.price_catalog.match_rules import Clause, ListedRules, MatchRules
from service.price_catalog.matching import MatchedModel, index_of
from service.price_catalog.periods import time_text
from service.price_catalog.pricing import RULES_SOURCE, price_call
from service.price_catalog.usage import ModelCallUsage
from tests.support.price_catalog.prices import LISTED, day, price, pricing
from tests.unit.price_catalog.test_pricing import InMemory

NOW = day(20)
USAGE = ModelCallUsage(input_tokens=1_000_000, output_tokens=0)


def clause(*texts: str, test: str = "equals") -> Clause:
    return [[{"test": test, "text": text}] for text in texts]


def listed(
    provider: str,
    models: dict[str, Clause],
    *,
    by_name: Clause | None = None,
    by_model: Clause | None = None,
    fallbacks: tuple[str, ...] = (),
) -> ListedRules:
    return ListedRules(
        provider=provider,
        rules={
            "by_name": by_name or [],
            "by_model": by_model or [],
            "fallbacks": list(fallbacks),
        },
        models=tuple(models.items()),
    )


ACME = listed(
    "acme",
    {
        "swift": clause("swift", "swift-latest", "swift-2026-01-31"),
        "swift-mini": clause("swift-mini", test="starts_with"),
        "tuned": [
            [
                {"test": "starts_with", "text": "tuned"},
                {"test": "ends_with", "text": "Large"},
            ]
        ],
        "numbered": clause(r"^numbered-\d{3}$", test="regex"),
        "anything": clause("swift", test="contains"),
    },
    by_name=clause("acme", test="contains"),
    by_model=clause("swift", test="starts_with"),
)
CLOUD = listed("x-ai", {"own": clause("own")}, fallbacks=("acme",))


def rules(*providers: ListedRules) -> MatchRules:
    made = MatchRules(source=RULES_SOURCE)
    made.replace(providers, LISTED, now=NOW)
    return made


@pytest.mark.parametrize(
    ("provider", "model", "found"),
    [
        ("acme", "swift", ("acme", "swift", "match")),
        ("acme", "SWIFT-Latest", ("acme", "swift", "match")),
        ("acme", "swift-mini-3", ("acme", "swift-mini", "match")),
        ("acme", "old-swift", ("acme", "anything", "match")),
        ("acme", "tuned-for-large", ("acme", "tuned", "match")),
        ("acme", "tuned-for-small", None),
        ("acme", "numbered-123", ("acme", "numbered", "match")),
        ("acme", "numbered-12", None),
        ("acme", "swift-20260131", ("acme", "anything", "match")),
        ("Acme", "swift", ("acme", "swift", "match")),
        ("acme.cloud", "swift", ("acme", "swift", "provider_match+match")),
        ("x_ai", "own", ("x-ai", "own", "provider_alias+match")),
        ("x-ai", "swift", ("acme", "swift", "fallback_provider+match", "x-ai")),
        ("x-ai", "acme/own", ("x-ai", "own", "prefix+match")),
        ("x-ai", "other/own", None),
        ("other", "swift", None),
        (None, "swift-latest", ("acme", "swift", "provider_of_model+match")),
        (None, "x_ai/own", ("x-ai", "own", "provider_alias+prefix+match")),
        ("litellm", "acme/swift", ("acme", "swift", "prefix+match")),
        (None, "own", None),
    ],
)
def test_a_name_means_the_first_model_whose_rule_it_matches(
    provider: str | None, model: str, found: tuple[str, ...] | None
) -> None:
    entry = index_of(rules(ACME, CLOUD)).find(provider, model, time_text(NOW))

    assert entry == (found and MatchedModel(*found))


def test_a_date_without_dashes_matches_as_the_last_resort() -> None:
    dated = listed("acme", {"swift": clause("swift-2026-01-31")})

    entry = index_of(rules(dated)).find("acme", "swift-20260131", time_text(NOW))

    assert entry == MatchedModel("acme", "swift", "date_form+match")


def test_an_alias_that_moves_means_the_earlier_model_at_earlier_times() -> None:
    before = listed("acme", {"one": clause("one", "latest"), "two": clause("two")})
    after = listed("acme", {"two": clause("two", "latest")})
    made = rules(before)

    assert made.replace([after], LISTED, now=NOW + timedelta(days=1)) == ["acme"]

    index = index_of(made)
    found = [
        entry and entry.model
        for entry in (
            index.find("acme", name, time_text(at))
            for name in ("latest", "one")
            for at in (day(1), NOW, NOW + timedelta(days=1))
        )
    ]
    assert found == ["one", "one", "two", "one", "one", None]


def test_the_same_rules_again_change_nothing() -> None:
    made = rules(ACME, CLOUD)
    made.take_events(at=NOW)

    assert made.replace([ACME, CLOUD], LISTED, now=NOW + timedelta(days=1)) == []
    assert not made.pending_events


def test_a_provider_that_the_list_leaves_out_has_no_models_any_more() -> None:
    made = rules(ACME, CLOUD)

    assert made.replace([ACME], LISTED, now=NOW + timedelta(days=1)) == ["x-ai"]

    index = index_of(made)
    assert index.find("x-ai", "own", time_text(NOW)) is not None
    assert index.find("x-ai", "own", time_text(NOW + timedelta(days=2))) is None


async def test_a_call_is_priced_by_the_entry_that_its_names_match() -> None:
    swift = pricing("acme", "swift")
    swift.set_price(price(), effective_from=day(1), effective_until=None, source=LISTED)

    async def priced_as(
        provider: str | None, *models: str
    ) -> tuple[str | None, str | None, Unpriced | None]:
        charge = await price_call(
            USAGE,
            provider=provider,
            models=models,
            at=NOW,
            catalog=InMemory(swift, rules(ACME, CLOUD)),
        )
        return charge.priced_as, charge.rule, charge.unpriced

    no_price = Unpriced.NO_PRICE_THEN
    assert await priced_as("acme", "swift") == ("acme/swift", "name", None)
    assert await priced_as("ACME", "Swift") == ("acme/swift", "match", None)
    assert await priced_as("acme", "swift-mini") == (
        "acme/swift-mini",
        "match",
        no_price,
    )
    assert await priced_as("acme", "swift-mini", "swift") == (
        "acme/swift",
        "name",
        None,
    )
    assert await priced_as("acme", "other") == (None, None, Unpriced.NO_SUCH_MODEL)


@pytest.mark.parametrize(
    ("provider", "model", "rule"),
    [
        ("mistral_ai", "small", "provider_alias+name"),
        ("MISTRAL", "Small", "name"),
        ("mistral", "mistral/small", "name+prefix"),
        ("litellm", "mistral/small", "name+prefix"),
    ],
)
async def test_without_rules_names_in_other_forms_are_found(
    provider: str, model: str, rule: str
) -> None:
    small = pricing("mistral", "small")
    small.set_price(price(), effective_from=day(1), effective_until=None, source=LISTED)

    charge = await price_call(
        USAGE, provider=provider, models=[model], at=NOW, catalog=InMemory(small)
    )

    assert (charge.priced_as, charge.rule) == ("mistral/small", rule)
