"""The cost of a model call, by its entry in the catalog."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest

from service.aggregate import LoggedAggregate
from service.event_log.finder import A
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.charge import Unpriced, amount_of
from service.price_catalog.periods import MANUAL
from service.price_catalog.pricing import price_call
from service.price_catalog.structure import Rate
from service.price_catalog.usage import ModelCallUsage
from tests.support.price_catalog.prices import price, pricing

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


class InMemory:
    """A catalog of some aggregates."""

    def __init__(self, *aggregates: LoggedAggregate) -> None:
        self._of = {aggregate.id: aggregate for aggregate in aggregates}

    async def find(self, kind: type[A], aggregate_id: UUID) -> A | None:
        found = self._of.get(aggregate_id)
        return found if isinstance(found, kind) else None


def flat(
    input_price: str | None,
    output_price: str | None = None,
    *,
    cache_read: str | None = None,
    cache_write: str | None = None,
) -> ModelPricing:
    at_price = price(
        input_price,
        output_price,
        cache_creation_price_per_1m=cache_write,
        cache_read_price_per_1m=cache_read,
    )
    model = pricing()
    model.set_price(at_price, effective_from=NOON, effective_until=None, source=MANUAL)
    return model


async def charged(
    model: ModelPricing, usage: ModelCallUsage
) -> Decimal | Unpriced | None:
    charge = await price_call(
        usage,
        provider="acme",
        models=("swift-1",),
        at=NOON,
        catalog=InMemory(model),
    )
    return charge.unpriced or charge.amount


async def test_a_charge_names_price_entry_and_rule() -> None:
    model = flat("2", "8")

    charge = await price_call(
        ModelCallUsage(input_tokens=1_000_000, output_tokens=500_000),
        provider="acme",
        models=("swift-1-of-today", "swift-1"),
        at=NOON,
        catalog=InMemory(model),
    )

    assert (charge.amount, charge.currency) == (Decimal(6), "USD")
    assert charge.price_id == f"{model.id}:2"
    assert (charge.priced_as, charge.rule) == ("acme/swift-1", "name")
    assert charge.unpriced is None


@pytest.mark.parametrize(
    ("prices", "cost"),
    [
        (("2", "8", None, None), "2.8"),
        (("2", "8", "0.2", None), "1.9"),
        (("2", "8", "0.2", "2.5"), "2.05"),
    ],
    ids=["as input", "reads cheaper", "writes dearer"],
)
async def test_cached_tokens_without_a_price_are_charged_as_input(
    prices: tuple[str, str, str | None, str | None], cost: str
) -> None:
    base_input, base_output, read, write = prices
    model = flat(base_input, base_output, cache_read=read, cache_write=write)

    found = await charged(
        model,
        ModelCallUsage(
            input_tokens=1_000_000,
            output_tokens=100_000,
            cache_read_tokens=500_000,
            cache_write_tokens=300_000,
        ),
    )

    assert found == Decimal(cost)


async def test_an_embedding_needs_no_count_of_output() -> None:
    assert await charged(flat("0.02"), ModelCallUsage(input_tokens=500_000)) == Decimal(
        "0.01"
    )


async def test_a_free_output_needs_no_count() -> None:
    assert await charged(flat("2", "0"), ModelCallUsage(input_tokens=500_000)) == 1


@pytest.mark.parametrize(
    ("usage", "reason"),
    [
        (ModelCallUsage(), Unpriced.COUNT_MISSING),
        (ModelCallUsage(input_tokens=1), Unpriced.COUNT_MISSING),
        (ModelCallUsage(output_tokens=1), Unpriced.COUNT_MISSING),
        (
            ModelCallUsage(input_tokens=1, output_tokens=1, cache_read_tokens=2),
            Unpriced.COUNTS_CONTRADICT,
        ),
    ],
)
async def test_counts_that_do_not_suffice_have_a_reason(
    usage: ModelCallUsage, reason: Unpriced
) -> None:
    assert await charged(flat("2", "8", cache_read="1"), usage) is reason


@pytest.mark.parametrize(
    "usage",
    [
        ModelCallUsage(input_tokens=10, output_tokens=1, cache_read_tokens=11),
        ModelCallUsage(
            input_tokens=10, output_tokens=1, cache_read_tokens=6, cache_write_tokens=5
        ),
        ModelCallUsage(input_tokens=10, output_tokens=1, output_reasoning_tokens=2),
        ModelCallUsage(input_tokens=10, output_tokens=1, input_audio_tokens=11),
        ModelCallUsage(input_tokens=10, output_tokens=1, total_tokens=5_000),
    ],
)
async def test_counts_that_contradict_each_other_have_no_cost(
    usage: ModelCallUsage,
) -> None:
    # Also where no part has a price of its own.
    assert await charged(flat("2", "8"), usage) is Unpriced.COUNTS_CONTRADICT


async def test_output_without_a_price_has_an_unknown_cost() -> None:
    found = await charged(flat("2"), ModelCallUsage(input_tokens=1, output_tokens=1))

    assert found is Unpriced.NO_PRICE_THEN


@pytest.mark.parametrize(
    ("cached", "expected"),
    [
        (None, Unpriced.NO_PRICE_THEN),
        (999_999, Unpriced.NO_PRICE_THEN),
        (1_000_000, Decimal("0.5")),
    ],
)
async def test_input_beyond_the_priced_part_of_it_is_unknown_not_free(
    cached: int | None, expected: Decimal | Unpriced
) -> None:
    only_cached = flat(None, "8", cache_read="0.5")

    found = await charged(
        only_cached,
        ModelCallUsage(
            input_tokens=1_000_000, output_tokens=0, cache_read_tokens=cached
        ),
    )

    assert found == expected


async def test_a_missing_entry_or_price_is_given_as_the_reason() -> None:
    catalog = InMemory(flat("2", "8"))
    usage = ModelCallUsage(input_tokens=1, output_tokens=1)
    early = NOON.replace(hour=11)

    unknown = await price_call(
        usage, provider="acme", models=("other", None), at=NOON, catalog=catalog
    )
    before = await price_call(
        usage, provider="acme", models=("swift-1",), at=early, catalog=catalog
    )

    assert unknown.unpriced is Unpriced.NO_SUCH_MODEL
    assert unknown.priced_as is None
    assert before.unpriced is Unpriced.NO_PRICE_THEN
    assert before.priced_as == "acme/swift-1"


def rate(price: str) -> Rate:
    return {"price": price, "tiers": []}


def test_seconds_of_audio_are_no_part_of_the_input_tokens() -> None:
    rates = {"input_tokens": rate("1"), "input_audio_seconds": rate("3.6")}
    usage = ModelCallUsage(
        input_tokens=1_000_000, output_tokens=0, others={"input_audio_seconds": 1000}
    )

    assert amount_of(rates, usage) == Decimal(2)


def test_a_cost_with_a_price_by_the_hour_has_28_digits() -> None:
    rates = {"input_tokens": rate("0.1"), "audio_seconds": rate("4.8")}
    usage = ModelCallUsage(input_tokens=1, output_tokens=0, others={"audio_seconds": 7})

    assert amount_of(rates, usage) == Decimal("0.009333433333333333333333333333")
