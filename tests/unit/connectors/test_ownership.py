"""Handing a connector over to another owner."""

import pytest

from service.connectors.aggregate import Connector
from service.connectors.ownership_commands import (
    HandOverConnector,
    HandOverOutcome,
    WithdrawOwnershipOffer,
    hand_over_connector,
    withdraw_ownership_offer,
)
from service.connectors.policy import may_accept_ownership, may_see
from service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
    PreconditionFailedError,
)
from service.principal import Principal
from service.users.aggregate import User
from tests.support.connectors.making import (
    AUDITOR,
    BOTH,
    OWNER,
    ROOT,
    STRANGER,
    connector_of,
)
from tests.support.scenario import Scenario

NEW = BOTH


def over(connector: Connector, user: Principal) -> HandOverConnector:
    return HandOverConnector(connector_id=connector.id, user_id=user.user_id)


def withdrawn(connector: Connector, user: Principal) -> WithdrawOwnershipOffer:
    return WithdrawOwnershipOffer(connector_id=connector.id, user_id=user.user_id)


@pytest.mark.parametrize(
    ("caller", "offered_to", "user", "accepts", "sees"),
    [
        (NEW, NEW, NEW, True, True),
        (NEW, None, NEW, False, False),
        (NEW, STRANGER, NEW, False, False),
        (NEW, NEW, STRANGER, False, True),
        (OWNER, NEW, NEW, False, True),
        (AUDITOR, NEW, NEW, False, True),
        (ROOT, None, NEW, True, True),
    ],
)
def test_who_may_accept(
    caller: Principal,
    offered_to: Principal | None,
    user: Principal,
    *,
    accepts: bool,
    sees: bool,
) -> None:
    connector = connector_of(OWNER)
    if offered_to:
        connector.offer_ownership(offered_to.user_id)

    assert may_accept_ownership(caller, connector, user.user_id) is accepts
    assert may_see(caller, connector, manages_holder=False) is sees


async def test_the_owner_offers_and_the_new_owner_accepts(scenario: Scenario) -> None:
    connector = connector_of(OWNER)
    await scenario.given(connector, User(name="both"))
    command = over(connector, NEW)

    await scenario.when(hand_over_connector, command, by=OWNER)
    await scenario.then(("connector.ownership_offered", OWNER))
    assert scenario.result[1] is HandOverOutcome.OFFERED
    await scenario.when(hand_over_connector, command, by=OWNER)
    await scenario.then()
    await scenario.when(hand_over_connector, command, by=NEW)
    await scenario.then(("connector.handed_over", NEW))

    connector = scenario.result[0]
    assert (connector.owner_id, connector.offered_owner_id) == (
        str(NEW.user_id),
        None,
    )
    await scenario.when(hand_over_connector, command, by=NEW)
    await scenario.then()
    assert scenario.result[1] is HandOverOutcome.ALREADY_OWNER
    await scenario.when(hand_over_connector, command, by=OWNER)
    await scenario.then_refused(NotFoundError)


async def test_a_superuser_hands_over_at_once(scenario: Scenario) -> None:
    connector = connector_of(OWNER)
    await scenario.given(connector, User(name="both"))
    await scenario.when(hand_over_connector, over(connector, NEW), by=ROOT)
    await scenario.then(("connector.handed_over", ROOT))


@pytest.mark.parametrize("caller", [OWNER, ROOT])
async def test_a_disabled_user_gets_no_connector(
    scenario: Scenario, caller: Principal
) -> None:
    connector, user = connector_of(OWNER), User(name="both")
    user.disable()
    await scenario.given(connector, user)
    await scenario.when(hand_over_connector, over(connector, NEW), by=caller)
    await scenario.then_refused(ConflictError)


@pytest.mark.parametrize("caller", [OWNER, NEW, ROOT])
async def test_an_offer_is_withdrawn_or_declined(
    scenario: Scenario, caller: Principal
) -> None:
    connector = connector_of(OWNER)
    connector.offer_ownership(NEW.user_id)
    await scenario.given(connector, User(name="both"))
    await scenario.when(withdraw_ownership_offer, withdrawn(connector, NEW), by=caller)
    await scenario.then(("connector.ownership_offer_withdrawn", caller))
    await scenario.when(hand_over_connector, over(connector, NEW), by=NEW)
    await scenario.then_refused(NotFoundError)
    await scenario.when(withdraw_ownership_offer, withdrawn(connector, NEW), by=OWNER)
    await scenario.then()
    assert scenario.result[1] is HandOverOutcome.NOT_OFFERED


async def test_only_the_parties_take_offer_or_decline_a_connector(
    scenario: Scenario,
) -> None:
    connector = connector_of(OWNER, public=True)
    connector.offer_ownership(NEW.user_id)
    await scenario.given(connector, User(name="both"), User(name="stranger"))
    for caller in (STRANGER, AUDITOR):
        for user in (caller, NEW):
            await scenario.when(hand_over_connector, over(connector, user), by=caller)
            await scenario.then_refused(ForbiddenError)
        await scenario.when(
            withdraw_ownership_offer, withdrawn(connector, NEW), by=caller
        )
        await scenario.then_refused(ForbiddenError)


async def test_handing_over_to_an_unknown_user_is_refused(scenario: Scenario) -> None:
    connector = connector_of(OWNER)
    await scenario.given(connector)
    for caller in (OWNER, ROOT):
        await scenario.when(hand_over_connector, over(connector, NEW), by=caller)
        await scenario.then_refused(NotFoundError)


async def test_a_connector_that_changed_meanwhile_is_not_handed_over(
    scenario: Scenario,
) -> None:
    connector = connector_of(OWNER, public=True)
    await scenario.given(connector, User(name="both"))
    for handler, command in (
        (hand_over_connector, over(connector, NEW)),
        (withdraw_ownership_offer, withdrawn(connector, NEW)),
    ):
        await scenario.when(handler, command, by=OWNER, if_match=1)  # type: ignore[arg-type]
        await scenario.then_refused(PreconditionFailedError)
