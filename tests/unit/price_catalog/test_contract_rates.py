"""The cost of a model call by a contract, beside its cost by the list."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.charge import EXACT, Charge, Unpriced
from service.price_catalog.contracts.terms import ContractTerms
from service.price_catalog.match_rules import ListedRules, MatchRules, ProviderRules
from service.price_catalog.periods import MANUAL, PriceValues
from service.price_catalog.pricing import RULES_SOURCE, price_call
from service.price_catalog.provider import Provider
from service.price_catalog.usage import ModelCallUsage
from tests.support.price_catalog.prices import price, pricing
from tests.unit.price_catalog.test_pricing import InMemory

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
USAGE = ModelCallUsage(
    input_tokens=1_000_000, output_tokens=100_000, cache_read_tokens=500_000
)
BATCH: Any = {
    "rates": {
        "input_tokens": {"price": "2", "tiers": []},
        "output_tokens": {"price": "8", "tiers": []},
    },
    "windows": [],
    "variants": [
        {
            "when": {"processing": "batch"},
            "since": None,
            "hours": [],
            "rates": {"input_tokens": {"price": "1", "tiers": []}},
        }
    ],
}


def values(
    input_price: str | None = None,
    output_price: str | None = None,
    cache_read: str | None = None,
    **others: Any,
) -> PriceValues:
    return price(
        input_price, output_price, cache_read_price_per_1m=cache_read, **others
    )


def listed(at_price: PriceValues | None = None) -> ModelPricing:
    model = pricing("acme", "swift")
    model.set_price(
        at_price or values("2", "8", "0.2"),
        effective_from=NOON - timedelta(days=30),
        effective_until=None,
        source=MANUAL,
    )
    return model


def terms(
    discount: str | None = None, price: PriceValues | None = None
) -> ContractTerms:
    return {"discount_percent": discount, "price": price, "notes": None}


def acme(**contracts: ContractTerms) -> Provider:
    """The provider with contracts for a model, and for ``all``; since noon."""
    provider = Provider(key="acme", display_name="Acme")
    for model, of_model in contracts.items():
        provider.set_contract(
            None if model == "all" else model,
            of_model,
            effective_from=NOON,
            effective_until=NOON + timedelta(hours=1),
        )
    return provider


async def charged(
    provider: Provider,
    model: ModelPricing | None = None,
    usage: ModelCallUsage = USAGE,
    at: datetime = NOON,
) -> Charge:
    return await price_call(
        usage,
        provider="acme",
        models=("swift",),
        at=at,
        catalog=InMemory(model or listed(), provider),
    )


@pytest.mark.parametrize(
    ("of_model", "of_all", "cost"),
    [
        # By the list: 500,000 at 2, 500,000 at 0.2, 100,000 at 8.
        (None, None, "1.9"),
        (None, terms("10"), "1.71"),
        (terms("50"), terms("10"), "0.95"),
        (terms("0"), terms("10"), "1.9"),
        (terms("100"), None, "0"),
        # A fixed input price: what it doesn't fix is as listed, less the discount.
        (terms(price=values("1")), None, "1.4"),
        (terms("50", values("1")), None, "0.95"),
        (terms(price=values("1")), terms("50"), "0.95"),
        (terms(price=values("1", "4", "0.1")), terms("50"), "0.95"),
        (terms(price=values("0")), None, "0.9"),
    ],
)
async def test_a_call_costs_what_the_contract_says(
    of_model: ContractTerms | None, of_all: ContractTerms | None, cost: str
) -> None:
    given_terms = {"swift": of_model, "all": of_all}
    provider = acme(**{name: each for name, each in given_terms.items() if each})

    charge = await charged(provider)

    assert (charge.amount, charge.currency) == (Decimal(cost), "USD")
    assert (charge.list_amount, charge.list_currency) == (Decimal("1.9"), "USD")
    expected = f"{provider.id}:2" if of_model or of_all else None
    assert charge.contract_id == expected


@pytest.mark.parametrize(
    ("after", "cost"),
    [
        (timedelta(microseconds=-1), "1.9"),
        (timedelta(0), "1.71"),
        (timedelta(hours=1, microseconds=-1), "1.71"),
        (timedelta(hours=1), "1.9"),
    ],
)
async def test_the_start_of_a_call_decides(after: timedelta, cost: str) -> None:
    charge = await charged(acme(all=terms("10")), at=NOON + after)

    assert charge.amount == Decimal(cost)


async def test_a_batch_keeps_its_list_rate_less_the_discount() -> None:
    """A fixed price for ordinary calls isn't one for batches."""
    model = listed(values("2", "8", structure=BATCH))
    provider = acme(swift=terms("50", values("1.5")))
    usage = ModelCallUsage(
        input_tokens=1_000_000, output_tokens=0, conditions={"processing": "batch"}
    )

    charge = await charged(provider, model, usage)

    assert (charge.amount, charge.list_amount) == (Decimal("0.5"), Decimal(1))


async def test_a_batch_has_the_rate_that_the_contract_fixes_for_it() -> None:
    model = listed(values("2", "8", structure=BATCH))
    own = {
        **BATCH,
        "variants": [
            {
                **BATCH["variants"][0],
                "rates": {"input_tokens": {"price": "0.7", "tiers": []}},
            }
        ],
    }
    provider = acme(swift=terms("50", values("2", "8", structure=own)))
    usage = ModelCallUsage(
        input_tokens=1_000_000, output_tokens=0, conditions={"processing": "batch"}
    )

    assert (await charged(provider, model, usage)).amount == Decimal("0.7")


async def test_tiers_of_the_list_are_discounted_too() -> None:
    tiers: Any = {
        "rates": {
            "input_tokens": {"price": "2", "tiers": [{"above": 1000, "price": "4"}]},
            "output_tokens": {"price": "8", "tiers": []},
        },
        "windows": [],
        "variants": [],
    }
    model = listed(values("2", "8", structure=tiers))

    charge = await charged(
        acme(all=terms("25")),
        model,
        ModelCallUsage(input_tokens=1_000_000, output_tokens=0),
    )

    assert (charge.amount, charge.list_amount) == (Decimal(3), Decimal(4))


async def test_a_contract_in_another_currency_has_a_cost_of_its_own() -> None:
    provider = acme(swift=terms(price=values("1", "5", "0.1", currency="EUR")))

    charge = await charged(provider)

    assert (charge.amount, charge.currency) == (Decimal("1.05"), "EUR")
    assert (charge.list_amount, charge.list_currency) == (Decimal("1.9"), "USD")


async def test_no_rate_is_taken_from_a_list_in_another_currency() -> None:
    provider = acme(swift=terms("10", values("1", "5", currency="EUR")))

    charge = await charged(provider)

    assert charge.unpriced is Unpriced.CONTRACT_LACKS_RATE
    assert (charge.amount, charge.currency) == (None, None)
    assert charge.contract_id == f"{provider.id}:2"
    assert charge.list_amount == Decimal("1.9")


async def test_a_rate_that_isnt_used_may_be_missing() -> None:
    provider = acme(swift=terms(price=values("1", "5", currency="EUR")))
    usage = ModelCallUsage(input_tokens=1_000_000, output_tokens=100_000)

    charge = await charged(provider, usage=usage)

    assert (charge.amount, charge.currency) == (Decimal("1.5"), "EUR")


async def test_a_fixed_price_counts_while_the_list_has_none() -> None:
    model = listed()
    model.end_price(2, effective_until=NOON - timedelta(days=1))

    fixed = await charged(acme(swift=terms(price=values("1", "4"))), model)
    discounted = await charged(acme(all=terms("10")), model)

    assert (fixed.amount, fixed.currency) == (Decimal("1.4"), "USD")
    assert (fixed.list_amount, fixed.price_id) == (None, None)
    assert discounted.unpriced is Unpriced.NO_PRICE_THEN


async def test_the_contract_is_with_the_provider_that_was_called() -> None:
    """A cloud that offers another provider's models has contracts of its own."""
    rules = MatchRules(source=RULES_SOURCE)
    own: Any = [[{"test": "equals", "text": "swift"}]]
    name: ProviderRules = {"by_name": [], "by_model": [], "fallbacks": []}
    cloud_rules: ProviderRules = {**name, "fallbacks": ["acme"]}
    rules.replace(
        [
            ListedRules(provider="acme", rules=name, models=(("swift", own),)),
            ListedRules(provider="cloud", rules=cloud_rules, models=()),
        ],
        {"name": RULES_SOURCE, "version": None, "sha256": None},
        now=NOON,
    )
    cloud = Provider(key="cloud", display_name="Cloud")
    cloud.set_contract(None, terms("20"), effective_from=NOON, effective_until=None)

    charge = await price_call(
        USAGE,
        provider="cloud",
        models=("swift",),
        at=NOON,
        catalog=InMemory(rules, listed(), cloud, acme(all=terms("50"))),
    )

    assert (charge.amount, charge.priced_as) == (Decimal("1.52"), "acme/swift")
    assert charge.contract_id == f"{cloud.id}:2"


AMOUNT = st.decimals(0, 1000, places=10)
COUNT = st.integers(0, 10**12)


@given(
    prices=st.tuples(AMOUNT, AMOUNT, AMOUNT),
    counts=st.tuples(COUNT, COUNT, st.floats(0, 1)),
    percent=st.decimals(0, 100, places=10),
)
async def test_a_discount_alone_is_off_every_cost_exactly(
    prices: tuple[Decimal, ...], counts: tuple[int, int, float], percent: Decimal
) -> None:
    model = listed(values(*(format(each, "f") for each in prices)))
    usage = ModelCallUsage(
        input_tokens=counts[0],
        output_tokens=counts[1],
        cache_read_tokens=int(counts[0] * counts[2]),
    )

    charge = await charged(acme(all=terms(format(percent, "f"))), model, usage)

    assert charge.list_amount is not None
    rest = EXACT.subtract(Decimal(100), percent)
    assert charge.amount == EXACT.divide(
        EXACT.multiply(charge.list_amount, rest), Decimal(100)
    )


@given(prices=st.tuples(AMOUNT, AMOUNT, AMOUNT), percent=st.decimals(0, 100, places=2))
async def test_a_contract_that_fixes_every_rate_ignores_the_list(
    prices: tuple[Decimal, ...], percent: Decimal
) -> None:
    fixed = values(*(format(each, "f") for each in prices))

    by_contract = await charged(acme(swift=terms(format(percent, "f"), fixed)))
    by_list = await charged(acme(), listed(fixed))

    assert by_contract.amount == by_list.amount
