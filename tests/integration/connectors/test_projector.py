"""Connector events in the read tables."""

import random
from uuid import UUID

from aiohttp.test_utils import TestClient

from service.resources import Resources
from tests.support.connectors.making import OWNER, connector_of
from tests.support.rebuilding import expect_rebuild_equals_live, tables
from tests.support.scenario import Scenario

FIRST, SECOND, THIRD = UUID(int=1), UUID(int=2), UUID(int=3)


async def test_grants_follow_their_events_within_a_batch_and_across(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    connector = connector_of(OWNER, public=True)
    connector.consent_to_grant(FIRST, by_connector=False, by_agent=True)
    connector.consent_to_grant(SECOND, by_connector=True, by_agent=False)
    connector.consent_to_grant(THIRD, by_connector=True, by_agent=True)
    connector.revoke_grant(THIRD)
    await scenario.given(connector)
    assert (await tables(resources, "connectors"))["connector_grant"] == [
        f"({connector.id},{FIRST},granted)",
        f"({connector.id},{SECOND},connector)",
    ]

    connector.make_private()
    connector.revoke_grant(FIRST)
    connector.consent_to_grant(FIRST, by_connector=False, by_agent=True)
    connector.consent_to_grant(SECOND, by_connector=False, by_agent=True)
    await scenario.given(connector)

    rows = await tables(resources, "connectors")
    assert rows["connector_grant"] == [
        f"({connector.id},{FIRST},agent)",
        f"({connector.id},{SECOND},granted)",
    ]
    at = "2026-03-01 12:00:00+00"
    words = f'{OWNER.user_id},"Issue tracker",https://tracker.example/mcp,""'
    assert rows["connector"] == [
        f'({connector.id},{words},,,,f,issue-tracker,f,strict,,,11,"{at}","{at}")'
    ]


async def test_nothing_of_a_retired_connector_is_held(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    connector = connector_of(OWNER, public=True)
    connector.consent_to_grant(FIRST, by_connector=True, by_agent=True)
    connector.retire()
    await scenario.given(connector)

    rows = await tables(resources, "connectors")

    assert rows["connector_grant"] == []
    assert ",,,t,issue-tracker,f,strict,,,5," in rows["connector"][0]


async def test_rebuilt_connectors_equal_live_ones(
    client: TestClient, resources: Resources, scenario: Scenario
) -> None:
    chance = random.Random(7)  # noqa: S311  # a fixed course of events
    connectors = [connector_of(OWNER) for _ in range(8)]
    await scenario.given(*connectors)
    for _ in range(25):
        for connector in chance.sample(connectors, 3):
            agent_id = chance.choice([FIRST, SECOND, THIRD])
            match chance.randrange(6):
                case 0:
                    connector.make_public(by=OWNER.user_id, at=scenario.at)
                case 1:
                    connector.make_private()
                case 2 | 3 | 4:
                    connector.consent_to_grant(
                        agent_id,
                        by_connector=chance.random() < 0.5,
                        by_agent=chance.random() < 0.5,
                    )
                case 5:
                    connector.revoke_grant(agent_id)
            await scenario.given(connector)
    connectors[0].retire()
    await scenario.given(connectors[0])

    await expect_rebuild_equals_live(resources, "connectors")
