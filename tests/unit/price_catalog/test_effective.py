"""The price that a call would have is what the call is charged."""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.aggregate import LoggedAggregate
from service.price_catalog.contracts.terms import ContractTerms
from service.price_catalog.effective import EffectivePrice, effective_price
from service.price_catalog.match_rules import ListedRules, MatchRules, ProviderRules
from service.price_catalog.periods import MANUAL
from service.price_catalog.pricing import RULES_SOURCE, price_call
from service.price_catalog.provider import Provider
from service.price_catalog.usage import ModelCallUsage
from tests.support.price_catalog.prices import pricing
from tests.unit.price_catalog.test_contract_rates import (
    BATCH,
    NOON,
    acme,
    listed,
    terms,
    values,
)
from tests.unit.price_catalog.test_pricing import InMemory

MILLION = 1_000_000
DISCOUNTS = st.sampled_from([None, "0", "3", "12.5", "100"])
AMOUNTS = st.decimals("0", "1000", places=4).map(lambda amount: format(amount, "f"))
OF_OUTPUT = ModelCallUsage(input_tokens=0, output_tokens=MILLION)
OF_INPUT = ModelCallUsage(input_tokens=MILLION, output_tokens=0)
OF_READS = ModelCallUsage(
    input_tokens=MILLION, output_tokens=0, cache_read_tokens=MILLION
)
OF_WRITES = ModelCallUsage(
    input_tokens=MILLION, output_tokens=0, cache_write_tokens=MILLION
)
IN_AND_OUT = {"input_tokens": OF_INPUT, "output_tokens": OF_OUTPUT}


async def effective(
    catalog: Sequence[LoggedAggregate],
    *,
    at: datetime = NOON,
    provider: str = "acme",
    model: str = "swift",
) -> EffectivePrice | None:
    return await effective_price(
        provider=provider, model=model, at=at, catalog=InMemory(*catalog)
    )


async def expect_what_is_charged(
    catalog: Sequence[LoggedAggregate],
    units: Mapping[str, ModelCallUsage],
    at: datetime = NOON,
) -> EffectivePrice:
    """Compare a price with the charge of a million tokens of each unit."""
    price = await effective(catalog, at=at)
    assert price is not None
    for unit, usage in units.items():
        charge = await price_call(
            usage,
            provider="acme",
            models=("swift",),
            at=at,
            catalog=InMemory(*catalog),
        )
        assert charge.unpriced is None
        assert price.per_1m(unit) == charge.amount, unit
        assert price.currency == charge.currency
        assert price.priced_as == charge.priced_as
        assert price.price_id == charge.price_id
        assert price.contract_id == charge.contract_id
    return price


@given(
    amounts=st.tuples(AMOUNTS, AMOUNTS, AMOUNTS, AMOUNTS),
    discounts=st.tuples(DISCOUNTS, DISCOUNTS),
    fixed=st.one_of(st.none(), AMOUNTS),
    currency=st.sampled_from(["USD", "EUR"]),
)
async def test_a_million_tokens_are_charged_the_price(
    amounts: tuple[str, str, str, str],
    discounts: tuple[str | None, str | None],
    fixed: str | None,
    currency: str,
) -> None:
    of_input, of_output, of_reads, of_writes = amounts
    of_model, of_all = discounts
    own = None if fixed is None else values(fixed, currency=currency)
    contracts = {
        "swift": terms(of_model, own) if of_model or own else None,
        "all": terms(of_all) if of_all else None,
    }
    model = listed(
        values(of_input, of_output, of_reads, cache_creation_price_per_1m=of_writes)
    )
    units = {"input_tokens": OF_INPUT}
    if own is None or currency == "USD":
        # In another currency, a contract has no rate but the one that it fixes.
        units |= {
            "output_tokens": OF_OUTPUT,
            "cache_read_tokens": OF_READS,
            "cache_write_tokens": OF_WRITES,
        }

    await expect_what_is_charged(
        [model, acme(**{name: each for name, each in contracts.items() if each})],
        units,
    )


@pytest.mark.parametrize(
    ("of_model", "of_all", "of_input", "of_output"),
    [
        (None, None, "2", "8"),
        (None, terms("10"), "1.8", "7.2"),
        (terms("50"), terms("10"), "1", "4"),
        (terms(price=values("1.5")), terms("50"), "1.5", "4"),
        (terms(price=values("0")), None, "0", "8"),
        (terms("100"), None, "0", "0"),
    ],
)
async def test_contracts_count(
    of_model: ContractTerms | None,
    of_all: ContractTerms | None,
    of_input: str,
    of_output: str,
) -> None:
    given_terms = {"swift": of_model, "all": of_all}
    provider = acme(**{name: each for name, each in given_terms.items() if each})
    model = listed()

    price = await expect_what_is_charged([model, provider], IN_AND_OUT)

    assert price.per_1m("input_tokens") == Decimal(of_input)
    assert price.per_1m("output_tokens") == Decimal(of_output)
    assert price.price_id == f"{model.id}:2"
    contract = f"{provider.id}:2" if of_model or of_all else None
    assert (price.contract_id, price.currency) == (contract, "USD")


@pytest.mark.parametrize(
    ("after", "of_input", "has_contract"),
    [
        (timedelta(microseconds=-1), "2", False),
        (timedelta(0), "1", True),
        (timedelta(hours=1, microseconds=-1), "1", True),
        (timedelta(hours=1), "2", False),
    ],
)
async def test_the_contract_of_that_time_counts(
    after: timedelta, of_input: str, *, has_contract: bool
) -> None:
    catalog = [listed(), acme(swift=terms("50"))]

    price = await expect_what_is_charged(
        catalog, {"input_tokens": OF_INPUT}, NOON + after
    )

    assert price.per_1m("input_tokens") == Decimal(of_input)
    assert (price.contract_id is not None) == has_contract


async def test_a_contract_in_another_currency_fixes_what_is_known() -> None:
    contract = terms(price=values("3", currency="EUR"))

    price = await expect_what_is_charged(
        [listed(), acme(swift=contract)], {"input_tokens": OF_INPUT}
    )

    assert (price.currency, price.per_1m("input_tokens")) == ("EUR", Decimal(3))
    # The list has one, in dollars.
    assert price.per_1m("output_tokens") is None


async def test_a_contract_may_fix_a_price_that_the_list_does_not_have_then() -> None:
    later = pricing("acme", "swift")
    later.set_price(
        values("9"),
        effective_from=NOON + timedelta(days=1),
        effective_until=None,
        source=MANUAL,
    )

    price = await expect_what_is_charged(
        [later, acme(swift=terms(price=values("3", "4")))],
        IN_AND_OUT,
    )

    assert (price.price_id, price.per_1m("input_tokens")) == (None, Decimal(3))


@pytest.mark.parametrize(
    ("days", "expected"), [(-31, None), (-30, "2"), (9, "2"), (10, None), (11, None)]
)
async def test_a_price_holds_from_its_start_to_its_end(
    days: int, expected: str | None
) -> None:
    model = listed()
    model.end_price(2, effective_until=NOON + timedelta(days=10))

    price = await effective([model], at=NOON + timedelta(days=days))

    found = None if price is None else price.per_1m("input_tokens")
    assert found == (None if expected is None else Decimal(expected))


async def test_a_model_or_provider_without_an_entry_has_no_price() -> None:
    catalog = [listed(), acme()]

    assert await effective(catalog, model="swift-2") is None
    assert await effective(catalog, provider="acme2") is None
    assert await effective(catalog) is not None


async def test_other_forms_of_a_name_are_found_as_for_a_call() -> None:
    for provider, model in (("acme", "SWIFT"), ("acme", "acme/swift")):
        price = await effective([listed()], provider=provider, model=model)
        assert price is not None
        assert price.priced_as == "acme/swift"


async def test_an_entry_without_a_price_then_leaves_the_next_one() -> None:
    later = pricing("acme", "SWIFT")
    later.set_price(
        values("9"),
        effective_from=NOON + timedelta(days=1),
        effective_until=None,
        source=MANUAL,
    )

    price = await effective([later, listed()], model="SWIFT")

    assert price is not None
    assert (price.priced_as, price.per_1m("input_tokens")) == (
        "acme/swift",
        Decimal(2),
    )


async def test_a_cloud_sells_a_model_of_another_provider_at_its_own_discount() -> None:
    rules = MatchRules(source=RULES_SOURCE)
    own: Any = [[{"test": "equals", "text": "swift"}]]
    none: ProviderRules = {"by_name": [], "by_model": [], "fallbacks": []}
    rules.replace(
        [
            ListedRules(provider="acme", rules=none, models=(("swift", own),)),
            ListedRules(
                provider="cloud", rules={**none, "fallbacks": ["acme"]}, models=()
            ),
        ],
        {"name": RULES_SOURCE, "version": None, "sha256": None},
        now=NOON,
    )
    cloud = Provider(key="cloud", display_name="Cloud")
    cloud.set_contract(None, terms("20"), effective_from=NOON, effective_until=None)
    catalog = [rules, listed(), cloud, acme(all=terms("50"))]

    price = await effective(catalog, provider="cloud")

    assert price is not None
    assert (price.priced_as, price.contract_id) == ("acme/swift", f"{cloud.id}:2")
    assert price.per_1m("input_tokens") == Decimal("1.6")


async def test_tiers_and_variants_are_left_out_and_free_is_not_unknown() -> None:
    structure: Any = {
        **BATCH,
        "rates": {
            "input_tokens": {
                "price": "2",
                "tiers": [{"above": 200_000, "price": "4"}],
            },
            "output_tokens": {"price": "0", "tiers": []},
        },
    }
    model = listed(values(structure=structure))

    price = await effective([model, acme(all=terms("50"))])

    assert price is not None
    assert price.per_1m("input_tokens") == Decimal(1)
    assert price.per_1m("output_tokens") == Decimal(0)
    assert price.per_1m("cache_read_tokens") is None
