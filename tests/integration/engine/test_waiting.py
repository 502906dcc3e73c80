"""Reading what one wrote, and not waiting forever."""

import time
from dataclasses import replace

import pytest
from pytest_aiohttp.plugin import AiohttpClient

from projections.engine import snapshot
from service.app import create_app
from service.resources import Resources
from service.waits import Waits
from tests.support.callers import Callers

CONNECTORS = "/api/mcp/connectors"
WAIT_S = 0.3


async def test_a_read_waits_for_the_position_and_names_the_one_it_reflects(
    callers: Callers,
) -> None:
    ann = await callers.user("ann")
    for number in range(20):
        made = await ann.post(
            CONNECTORS,
            {"name": f"c{number}", "url": "https://t.example/", "description": ""},
        )
        listed = await ann.get(
            CONNECTORS, X_Min_Position=made.headers["X-Event-Position"]
        )

        assert listed.position >= made.position
        assert made.data["id"] in {each["id"] for each in listed.data["connectors"]}


async def test_a_position_that_has_been_reached_takes_no_query_of_its_own(
    callers: Callers, monkeypatch: pytest.MonkeyPatch
) -> None:
    ann = await callers.user("ann")
    made = await ann.post(CONNECTORS, {"name": "c", "url": "https://t.example/"})
    position = made.headers["X-Event-Position"]
    assert (await ann.get(CONNECTORS, X_Min_Position=position)).status == 200

    async def not_expected(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(snapshot, "wait_for_position", not_expected)
    listed = await ann.get(CONNECTORS, X_Min_Position=position)

    assert listed.status == 200
    assert listed.position >= made.position


async def test_a_position_that_isnt_reached_in_time_is_503(
    resources: Resources, aiohttp_client: AiohttpClient
) -> None:
    """Nobody follows the log here."""
    waiting = replace(resources, waits=Waits(position_s=WAIT_S))
    client = await aiohttp_client(create_app(waiting))
    ann = await Callers(resources, client).user("ann")
    started = time.monotonic()

    refused = await ann.get(CONNECTORS, X_Min_Position="1")

    assert refused.status == 503
    assert refused.code == "position_not_reached"
    assert refused.headers["Retry-After"] == "1"
    assert time.monotonic() - started >= WAIT_S


@pytest.mark.thorough
async def test_a_position_beyond_the_log_is_refused_at_once(callers: Callers) -> None:
    ann = await callers.user("ann")
    started = time.monotonic()

    refused = await ann.get(CONNECTORS, X_Min_Position="1000000")

    assert refused.status == 412
    # By far sooner than the wait of these tests, 60 seconds.
    assert time.monotonic() - started < 30
