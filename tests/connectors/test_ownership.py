"""Handing a connector over to another owner."""

from uuid import UUID, uuid4

import pytest
from aiohttp.test_utils import TestClient

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
from service.resources import Resources
from service.users.aggregate import User
from tests.callers import Callers
from tests.connectors.making import (
    AUDITOR,
    BOTH,
    OWNER,
    ROOT,
    STRANGER,
    connector_of,
)
from tests.connectors.test_routes import TRACKER
from tests.rebuilding import expect_rebuild_equals_live
from tests.scenario import Scenario

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


async def test_others_neither_take_nor_offer_nor_decline(scenario: Scenario) -> None:
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


async def test_nobody_gets_no_connector(scenario: Scenario) -> None:
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


async def test_over_http_and_in_lists(callers: Callers) -> None:
    ada, bob = await callers.user("ada"), await callers.user("bob")
    connector = (await ada.post("/api/mcp/connectors", TRACKER)).data
    path = f"/api/mcp/connectors/{connector['id']}"

    offered = await ada.put(f"{path}/owner/{bob.user_id}")

    assert (offered.status, offered.data["offered_owner_id"]) == (
        202,
        str(bob.user_id),
    )
    seen = {"X_Min_Position": str(offered.position)}
    for query in ("", "?scope=offered"):
        listed = await bob.get(f"/api/mcp/connectors{query}", **seen)
        assert listed.data["connectors"] == [offered.data | {"health": "unobserved"}]
    assert (await bob.get(path, **seen)).status == 200
    accepted = await bob.put(f"{path}/owner/{bob.user_id}")
    assert (accepted.status, accepted.message) == (200, "connector handed over")
    seen = {"X_Min_Position": str(accepted.position)}
    owned = await bob.get("/api/mcp/connectors?scope=owned", **seen)
    row = accepted.data | {"health": "unobserved"}
    assert owned.data["connectors"] == [row]
    assert (await ada.get(path, **seen)).status == 404
    edited = await bob.put(path, {**TRACKER, "name": "Mine", "description": ""})
    seen = {"X_Min_Position": str(edited.position)}
    got = (await bob.get(path, **seen)).data
    assert (got["name"], got["owner_id"]) == ("Mine", str(bob.user_id))


async def test_exposure_names_the_owner_of_then(
    callers: Callers,
) -> None:
    root = await callers.user("root", "superuser")
    bob = await callers.user("bob")
    made = await root.post("/api/mcp/connectors", TRACKER)
    over = await root.put(f"/api/mcp/connectors/{made.data['id']}/owner/{bob.user_id}")

    owners = [
        (
            await root.get(
                f"/api/audit/connectors/{made.data['id']}/exposure"
                f"?since={made.position}&until={until}"
            )
        ).data["owner_id"]
        for until in (made.position, over.position)
    ]

    assert owners == [str(root.user_id), str(bob.user_id)]


async def test_rebuilt_owners_equal_live_ones(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    for number in range(12):
        connector = connector_of(OWNER)
        connector.consent_to_grant(uuid4(), by_connector=True, by_agent=True)
        await scenario.given(connector)
        connector.offer_ownership(UUID(int=number))
        if number % 2:
            connector.hand_over(UUID(int=number))
        if number % 3:
            connector.offer_ownership(uuid4())
        connector.edit(name=str(number), url=connector.url, description="")
        if number % 5 == 0:
            connector.retire()
        await scenario.given(connector)

    await expect_rebuild_equals_live(resources, "connectors")
