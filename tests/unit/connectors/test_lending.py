"""To which agents' calls the owner lends a secret: those that the owner granted."""

from copy import deepcopy
from itertools import product
from uuid import uuid4

import pytest

from service.connectors.aggregate import Connector
from service.connectors.gateway_commands import secret_of
from service.connectors.grant_commands import (
    GrantOutcome,
    grant_connector,
)
from service.principal import Principal
from tests.support.connectors.making import BOTH, MANAGER, OWNER, ROOT, agent_of
from tests.support.scenario import Scenario
from tests.unit.connectors.test_gateway import OWNERS, with_credential
from tests.unit.connectors.test_grants import GRANTED, OFFERED, grant

AGENT = agent_of(MANAGER)


def is_lent(connector: Connector) -> bool:
    return secret_of(connector, agent_id=AGENT.id, user_id=None) is not None


def granted(*, by_connector: bool, offered: bool = False) -> Connector:
    """A connector that was granted while it was public, and is private again."""
    connector = with_credential()
    if offered:
        connector.consent_to_grant(AGENT.id, by_connector=True, by_agent=False)
    connector.make_public(by=OWNER.user_id, at=Scenario.at)
    connector.consent_to_grant(AGENT.id, by_connector=by_connector, by_agent=True)
    assert not is_lent(connector)
    connector.make_private()
    return connector


def handed_over(connector: Connector) -> None:
    """Hand a connector over to a user who attaches a secret of theirs."""
    connector.hand_over(BOTH.user_id)
    connector.attach_credential(OWNERS)


@pytest.fixture
async def scenario(scenario: Scenario) -> Scenario:
    return await scenario.given(deepcopy(AGENT))


@pytest.mark.parametrize("by", [OWNER, ROOT])
async def test_being_public_lends_nothing_until_the_connectors_side_consents(
    scenario: Scenario, by: Principal
) -> None:
    connector = granted(by_connector=False)
    await scenario.given(connector)
    assert not is_lent(connector)

    await scenario.when(grant_connector, grant(connector.id, AGENT.id), by=MANAGER)
    await scenario.then()
    assert not is_lent(scenario.result[0])
    await scenario.when(grant_connector, grant(connector.id, AGENT.id), by=by)
    await scenario.then((GRANTED, by))
    assert scenario.result[1] is GrantOutcome.CONSENTED
    assert is_lent(scenario.result[0])
    await scenario.when(grant_connector, grant(connector.id, AGENT.id), by=by)
    await scenario.then()
    assert scenario.result[1] is GrantOutcome.ALREADY_GRANTED
    assert scenario.result[0].granted_to == [str(AGENT.id)]


@pytest.mark.parametrize("by", [BOTH, ROOT])
async def test_a_grant_of_the_owner_before_lends_nothing_of_the_new_one(
    scenario: Scenario, by: Principal
) -> None:
    connector = with_credential()
    connector.consent_to_grant(AGENT.id, by_connector=True, by_agent=True)
    assert is_lent(connector)
    handed_over(connector)
    await scenario.given(connector)
    assert connector.is_granted_to(AGENT.id)
    assert not is_lent(connector)

    await scenario.when(grant_connector, grant(connector.id, AGENT.id), by=by)

    await scenario.then((GRANTED, by))
    assert scenario.result[1] is GrantOutcome.CONSENTED
    assert is_lent(scenario.result[0])


@pytest.mark.parametrize("is_repeated", [True, False])
async def test_an_earlier_owners_offer_lends_only_when_the_new_owner_repeats_it(
    scenario: Scenario, *, is_repeated: bool
) -> None:
    connector = with_credential()
    connector.consent_to_grant(AGENT.id, by_connector=True, by_agent=False)
    handed_over(connector)
    await scenario.given(connector)
    command = grant(connector.id, AGENT.id)

    if is_repeated:
        await scenario.when(grant_connector, command, by=BOTH)
        await scenario.then((OFFERED, BOTH))
        await scenario.when(grant_connector, command, by=BOTH)
        await scenario.then()
        assert scenario.result[1] is GrantOutcome.AWAITS_AGENT
    await scenario.when(grant_connector, command, by=MANAGER)

    await scenario.then((GRANTED, MANAGER))
    assert scenario.result[0].is_granted_to(AGENT.id)
    assert is_lent(scenario.result[0]) is is_repeated


def test_an_older_log_tells_who_consented_but_while_the_connector_was_public() -> None:
    private, public = with_credential(), with_credential()
    public.make_public(by=OWNER.user_id, at=Scenario.at)

    for connector in (private, public):
        connector.trigger_event(Connector.GrantedToAgent, agent_id=str(AGENT.id))
        connector.make_private()

    assert is_lent(private)
    assert public.is_granted_to(AGENT.id)
    assert not is_lent(public)


def test_the_secret_is_lent_as_a_model_says_whatever_came_before() -> None:
    """Five steps from being public, in all orders; a revocation ends all consents.

    A hand-over ends none; but what the owner before consented to lends nothing.
    """
    steps = ("public", "private", "connector", "agent", "both", "revoke", "hand over")
    seen: set[bool] = set()
    for order in product(steps, repeat=5):
        connector = with_credential()
        connector.make_public(by=OWNER.user_id, at=Scenario.at)
        public, consented, asked, granted, lends = True, False, False, False, False
        for step in order:
            match step:
                case "public":
                    public = True
                    connector.make_public(by=OWNER.user_id, at=Scenario.at)
                case "private":
                    public = False
                    connector.make_private()
                case "revoke":
                    consented = asked = granted = lends = False
                    connector.revoke_grant(AGENT.id)
                case "hand over":
                    lends = False
                    connector.hand_over(uuid4())
                    connector.attach_credential(OWNERS)
                case _:
                    by_connector, by_agent = step != "agent", step != "connector"
                    consented, asked = consented or by_connector, asked or by_agent
                    lends = lends or by_connector
                    granted = granted or ((consented or public) and asked)
                    connector.consent_to_grant(
                        AGENT.id, by_connector=by_connector, by_agent=by_agent
                    )
        assert connector.is_granted_to(AGENT.id) is granted, order
        is_expected = granted and lends and not public
        assert is_lent(connector) is is_expected, order
        seen.add(is_expected)
    assert seen == {True, False}
