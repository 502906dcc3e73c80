"""What a process says of followers that others run."""

import re

import pytest
from aiohttp.test_utils import TestClient, TestServer

from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from projections.health import routes
from projections.health.routes import BEHIND_EVENTS
from service.app import create_app
from service.resources import Resources
from tests.support.project import ROOT
from tests.support.projectors import PROJECTORS
from tests.support.relay.writing import register


async def test_a_process_without_followers_is_degraded_while_they_are_far_behind(
    resources: Resources, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [each.name for each in PROJECTORS]
    await register(resources.log, 1)
    head = (await resources.log.head()).position
    async with run_followers(resources.log, resources.database_url):
        await wait_for_position(resources.pool, names, head, timeout_s=60)

    await register(resources.log, 3)
    lag = (await resources.log.head()).position - head
    async with TestClient(TestServer(create_app(resources))) as client:
        for bound, status in ((lag, "ready"), (lag - 1, "degraded")):
            monkeypatch.setattr(routes, "BEHIND_EVENTS", bound)
            answer = await client.get("/readyz")
            ready = (await answer.json())["data"]
            assert (answer.status, ready["status"]) == (200, status)
            assert [each["lag"] for each in ready["followers"]] == [lag] * len(names)


def test_the_alert_has_the_same_bound() -> None:
    rules = (ROOT / "deploy/prometheus/rules.yaml").read_text()
    [bound] = re.findall(r"agent_runtime_follower_lag_events\) > (\d+)", rules)
    assert int(bound) == BEHIND_EVENTS
