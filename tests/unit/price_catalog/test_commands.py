"""The price catalog's commands: what happens, what is refused, what is nothing."""

from dataclasses import replace
from typing import Any

import pytest

from service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PreconditionFailedError,
)
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.commands import (
    AddProvider,
    CorrectPrice,
    EndPrice,
    SetPrice,
    add_provider,
    correct_price,
    end_price,
    set_price,
)
from service.principal import Role
from tests.support.price_catalog.prices import day, price, priced, provider
from tests.support.scenario import Scenario, principal

ROOT = principal("root", Role.SUPERUSER)
MODEL_ID = ModelPricing.create_id("acme", "swift-1")

ADD = AddProvider(key="acme", display_name="Acme")
SET = SetPrice(
    provider="acme",
    model="swift-1",
    price=price("9"),
    effective_from=day(5),
    effective_until=None,
)
END = EndPrice(model_id=MODEL_ID, price_version=2, effective_until=day(3))
CORRECT = CorrectPrice(
    model_id=MODEL_ID,
    price_version=2,
    price=price("9"),
    effective_from=None,
    effective_until=None,
)


async def test_a_superuser_adds_a_provider(scenario: Scenario) -> None:
    await scenario.when(add_provider, ADD, by=ROOT)
    await scenario.then(("provider.added", ROOT))


async def test_adding_the_same_provider_again_is_nothing(scenario: Scenario) -> None:
    await scenario.given(provider())
    await scenario.when(add_provider, ADD, by=ROOT)
    await scenario.then()
    assert scenario.result[1] is False


async def test_a_key_is_not_given_to_another_name(scenario: Scenario) -> None:
    await scenario.given(provider())
    await scenario.when(add_provider, replace(ADD, display_name="Acme Two"), by=ROOT)
    await scenario.then_refused(ConflictError)


async def test_the_first_price_lists_the_model(scenario: Scenario) -> None:
    await scenario.given(provider())
    await scenario.when(set_price, SET, by=ROOT)
    await scenario.then(
        ("model_pricing.listed", ROOT), ("model_pricing.price_set", ROOT)
    )


async def test_a_later_price_closes_the_open_one_in_one_event(
    scenario: Scenario,
) -> None:
    await scenario.given(provider(), priced(1))
    await scenario.when(set_price, SET, by=ROOT)
    await scenario.then(("model_pricing.price_set", ROOT))
    [recorded] = await scenario.recorded()
    assert recorded.event.closes == 2
    assert recorded.event.price["input_price_per_1m"] == "9"


async def test_a_price_starts_now_unless_it_says_when(scenario: Scenario) -> None:
    await scenario.given(provider())
    await scenario.when(set_price, replace(SET, effective_from=None), by=ROOT)
    recorded = (await scenario.recorded())[-1]
    assert recorded.event.effective_from == "2026-03-01T12:00:00.000000+00:00"


async def test_setting_the_same_price_again_is_nothing(scenario: Scenario) -> None:
    await scenario.given(provider(), priced(1))
    await scenario.when(set_price, replace(SET, price=price("1")), by=ROOT)
    await scenario.then()
    assert not scenario.result.changed


async def test_a_price_needs_its_provider(scenario: Scenario) -> None:
    await scenario.when(set_price, SET, by=ROOT)
    await scenario.then_refused(NotFoundError)


async def test_a_price_is_ended(scenario: Scenario) -> None:
    await scenario.given(provider(), priced(1))
    await scenario.when(end_price, END, by=ROOT)
    await scenario.then(("model_pricing.price_ended", ROOT))


async def test_ending_it_there_again_is_nothing(scenario: Scenario) -> None:
    await scenario.given(provider(), priced(1))
    await scenario.when(end_price, END, by=ROOT)
    await scenario.when(end_price, END, by=ROOT)
    await scenario.then()


async def test_a_price_is_corrected(scenario: Scenario) -> None:
    await scenario.given(provider(), priced(1))
    await scenario.when(correct_price, CORRECT, by=ROOT)
    await scenario.then(("model_pricing.price_corrected", ROOT))


async def test_correcting_it_to_what_it_is_is_nothing(scenario: Scenario) -> None:
    await scenario.given(provider(), priced(1))
    await scenario.when(correct_price, replace(CORRECT, price=price("1")), by=ROOT)
    await scenario.then()


@pytest.mark.parametrize(
    ("handler", "command"), [(end_price, END), (correct_price, CORRECT)]
)
async def test_there_must_be_such_a_model_and_price(
    scenario: Scenario, handler: Any, command: Any
) -> None:
    await scenario.when(handler, command, by=ROOT)
    await scenario.then_refused(NotFoundError)
    await scenario.given(provider(), priced(1))
    await scenario.when(handler, replace(command, price_version=9), by=ROOT)
    await scenario.then_refused(NotFoundError)


@pytest.mark.parametrize(
    ("handler", "command"),
    [
        (add_provider, ADD),
        (set_price, SET),
        (end_price, END),
        (correct_price, CORRECT),
    ],
)
async def test_only_a_superuser_changes_the_catalog(
    scenario: Scenario, handler: Any, command: Any
) -> None:
    caller = principal("ada", Role.AUDITOR, Role.RUNTIME)
    await scenario.when(handler, command, by=caller)
    await scenario.then_refused(ForbiddenError)


@pytest.mark.parametrize(
    ("handler", "command"),
    [(set_price, SET), (end_price, END), (correct_price, CORRECT)],
)
async def test_a_stale_version_is_refused(
    scenario: Scenario, handler: Any, command: Any
) -> None:
    await scenario.given(provider(), priced(1))
    await scenario.when(handler, command, by=ROOT, if_match=1)
    await scenario.then_refused(PreconditionFailedError)
