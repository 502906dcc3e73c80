"""A grant takes two consents: who calls, what stood before, what becomes of it."""

from copy import deepcopy
from uuid import UUID, uuid4

import pytest

from service.connectors.aggregate import GRANTS_MAX, GRANTS_OF_OTHERS_MAX, Connector
from service.connectors.grant_commands import (
    GrantConnector,
    GrantOutcome,
    RevokeGrant,
    grant_connector,
    revoke_grant,
)
from service.errors import ConflictError, ForbiddenError, NotFoundError, ServiceError
from service.principal import Principal
from tests.support.connectors.making import (
    AUDITOR,
    BOTH,
    MANAGER,
    OWNER,
    ROOT,
    STRANGER,
    agent_of,
    connector_of,
)
from tests.support.scenario import Scenario

AGENT = agent_of(MANAGER, BOTH)
OFFERED = "connector.grant_offered"
GRANTED = "connector.granted_to_agent"


async def prepared(scenario: Scenario, *, before: str) -> Connector:
    """A connector that stands to AGENT as ``before`` says."""
    connector = connector_of(OWNER, public="public" in before)
    match before.rsplit(maxsplit=1)[-1]:
        case "granted":
            connector.consent_to_grant(AGENT.id, by_connector=True, by_agent=True)
        case "offered":
            connector.consent_to_grant(AGENT.id, by_connector=True, by_agent=False)
        case "requested":
            connector.consent_to_grant(AGENT.id, by_connector=False, by_agent=True)
    await scenario.given(connector)
    return connector


def grant(connector_id: UUID, agent_id: UUID = AGENT.id) -> GrantConnector:
    return GrantConnector(connector_id=connector_id, agent_id=agent_id)


def revoke(connector_id: UUID, agent_id: UUID = AGENT.id) -> RevokeGrant:
    return RevokeGrant(connector_id=connector_id, agent_id=agent_id)


@pytest.fixture
async def scenario(scenario: Scenario) -> Scenario:
    # A copy, for what is given has no pending events afterwards.
    return await scenario.given(deepcopy(AGENT))


@pytest.mark.parametrize(
    ("before", "caller", "outcome", "topic"),
    [
        # Nothing yet, private: each side offers, who is both grants at once.
        ("nothing", OWNER, GrantOutcome.AWAITS_AGENT, OFFERED),
        ("nothing", ROOT, GrantOutcome.GRANTED, GRANTED),
        # Offered by the connector's side: the agent's side completes.
        ("offered", OWNER, GrantOutcome.AWAITS_AGENT, None),
        ("offered", MANAGER, GrantOutcome.GRANTED, GRANTED),
        ("offered", ROOT, GrantOutcome.GRANTED, GRANTED),
        # Asked for by the agent's side: the connector's side completes.
        ("requested", OWNER, GrantOutcome.GRANTED, GRANTED),
        ("requested", MANAGER, GrantOutcome.AWAITS_CONNECTOR, None),
        ("requested", ROOT, GrantOutcome.GRANTED, GRANTED),
        # Public counts as the connector's consent, not as the agent's.
        ("public nothing", OWNER, GrantOutcome.AWAITS_AGENT, OFFERED),
        ("public nothing", MANAGER, GrantOutcome.GRANTED, GRANTED),
        ("public offered", MANAGER, GrantOutcome.GRANTED, GRANTED),
        # Granted: nothing to do for anyone.
        ("granted", OWNER, GrantOutcome.ALREADY_GRANTED, None),
        ("granted", MANAGER, GrantOutcome.ALREADY_GRANTED, None),
        ("granted", ROOT, GrantOutcome.ALREADY_GRANTED, None),
        ("public granted", MANAGER, GrantOutcome.ALREADY_GRANTED, None),
    ],
)
async def test_consenting(
    scenario: Scenario,
    before: str,
    caller: Principal,
    outcome: GrantOutcome,
    topic: str | None,
) -> None:
    connector = await prepared(scenario, before=before)
    await scenario.when(grant_connector, grant(connector.id), by=caller)
    await scenario.then(*[(topic, caller)] if topic else [])
    assert scenario.result[1] is outcome
    assert scenario.result[0].is_granted_to(AGENT.id) is (
        outcome in {GrantOutcome.GRANTED, GrantOutcome.ALREADY_GRANTED}
    )


async def test_both_sides_consent_at_once_beside_being_public(
    scenario: Scenario,
) -> None:
    """The second event is the consent of the connector's side, which lends a secret."""
    connector = await prepared(scenario, before="public nothing")
    await scenario.when(grant_connector, grant(connector.id), by=ROOT)
    await scenario.then((GRANTED, ROOT), (GRANTED, ROOT))
    assert scenario.result[1] is GrantOutcome.GRANTED
    assert scenario.result[0].is_granted_to(AGENT.id)
    assert scenario.result[0].not_lent == []


async def test_an_owner_who_manages_the_agent_grants_at_once(
    scenario: Scenario,
) -> None:
    connector = connector_of(BOTH)
    await scenario.given(connector)
    await scenario.when(grant_connector, grant(connector.id), by=BOTH)
    await scenario.then((GRANTED, BOTH))


async def test_a_manager_asks_for_a_connector_that_another_agent_of_theirs_holds(
    scenario: Scenario,
) -> None:
    connector, other = connector_of(OWNER), agent_of(MANAGER)
    connector.consent_to_grant(other.id, by_connector=True, by_agent=True)
    await scenario.given(connector, other)
    await scenario.when(grant_connector, grant(connector.id), by=MANAGER)
    await scenario.then((OFFERED, MANAGER))
    assert scenario.result[1] is GrantOutcome.AWAITS_CONNECTOR
    await scenario.when(grant_connector, grant(connector.id), by=OWNER)
    await scenario.then((GRANTED, OWNER))


@pytest.mark.parametrize(
    ("before", "caller", "refusal"),
    [
        # The connector doesn't exist for them.
        ("nothing", MANAGER, NotFoundError),
        ("nothing", STRANGER, NotFoundError),
        ("granted", STRANGER, NotFoundError),
        # They see it, and speak for neither side.
        ("public nothing", STRANGER, ForbiddenError),
        ("public granted", STRANGER, ForbiddenError),
        ("nothing", AUDITOR, ForbiddenError),
        ("granted", AUDITOR, ForbiddenError),
    ],
)
async def test_refused(
    scenario: Scenario, before: str, caller: Principal, refusal: type[ServiceError]
) -> None:
    connector = await prepared(scenario, before=before)
    await scenario.when(grant_connector, grant(connector.id), by=caller)
    await scenario.then_refused(refusal)
    await scenario.when(revoke_grant, revoke(connector.id), by=caller)
    await scenario.then_refused(refusal)


@pytest.mark.parametrize(
    ("caller", "refusal"),
    [
        (OWNER, NotFoundError),
        (ROOT, NotFoundError),
        # As with an agent that exists: nothing is learned.
        (STRANGER, ForbiddenError),
        (AUDITOR, ForbiddenError),
    ],
)
async def test_an_agent_that_does_not_exist(
    scenario: Scenario, caller: Principal, refusal: type[ServiceError]
) -> None:
    connector = connector_of(OWNER, public=True)
    await scenario.given(connector)
    await scenario.when(grant_connector, grant(connector.id, uuid4()), by=caller)
    await scenario.then_refused(refusal)
    await scenario.when(revoke_grant, revoke(connector.id, uuid4()), by=caller)
    await scenario.then_refused(refusal)


async def test_no_more_grants_than_a_connector_can_have(scenario: Scenario) -> None:
    connector = connector_of(OWNER)
    for number in range(GRANTS_MAX):
        connector.consent_to_grant(
            uuid4(), by_connector=True, by_agent=bool(number % 2)
        )
    await scenario.given(connector)
    await scenario.when(grant_connector, grant(connector.id), by=OWNER)
    await scenario.then_refused(ConflictError)


async def test_others_cannot_use_up_the_owners_grants(scenario: Scenario) -> None:
    connector = connector_of(OWNER, public=True)
    for _ in range(GRANTS_OF_OTHERS_MAX):
        connector.consent_to_grant(uuid4(), by_connector=False, by_agent=True)
    await scenario.given(connector)

    await scenario.when(grant_connector, grant(connector.id), by=MANAGER)
    await scenario.then_refused(ConflictError)

    await scenario.when(grant_connector, grant(connector.id), by=ROOT)
    await scenario.then((GRANTED, ROOT), (GRANTED, ROOT))


@pytest.mark.parametrize("caller", [OWNER, MANAGER, ROOT])
@pytest.mark.parametrize(
    ("before", "outcome"),
    [
        ("granted", GrantOutcome.REVOKED),
        ("public granted", GrantOutcome.REVOKED),
        ("offered", GrantOutcome.WITHDRAWN),
        ("requested", GrantOutcome.WITHDRAWN),
    ],
)
async def test_either_side_takes_back(
    scenario: Scenario, before: str, caller: Principal, outcome: GrantOutcome
) -> None:
    connector = await prepared(scenario, before=before)
    await scenario.when(revoke_grant, revoke(connector.id), by=caller)
    await scenario.then(("connector.grant_revoked", caller))
    assert scenario.result[1] is outcome
    assert scenario.result[0].is_granted_to(AGENT.id) is False
    assert scenario.result[0].offers == {}


@pytest.mark.parametrize("caller", [OWNER, MANAGER, ROOT])
async def test_taking_back_a_missing_grant_does_nothing(
    scenario: Scenario, caller: Principal
) -> None:
    connector = await prepared(scenario, before="public nothing")
    await scenario.when(revoke_grant, revoke(connector.id), by=caller)
    await scenario.then()
    assert scenario.result[1] is GrantOutcome.NOT_GRANTED


async def test_after_a_grant_is_revoked_both_consents_are_needed_again(
    scenario: Scenario,
) -> None:
    connector = await prepared(scenario, before="granted")
    await scenario.when(revoke_grant, revoke(connector.id), by=MANAGER)
    await scenario.when(grant_connector, grant(connector.id), by=OWNER)
    await scenario.then((OFFERED, OWNER))


async def test_a_retired_connector_is_granted_to_nobody(scenario: Scenario) -> None:
    connector = await prepared(scenario, before="granted")
    connector.retire()
    await scenario.given(connector)
    await scenario.when(grant_connector, grant(connector.id), by=ROOT)
    await scenario.then_refused(NotFoundError)
