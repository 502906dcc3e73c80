"""A read reflects what the same token wrote a moment ago, without X-Min-Position."""

import asyncio

import pytest
from aiohttp.test_utils import TestClient

from projections.engine import snapshot
from service.http.own_writes import OWN_WRITES
from service.resources import Resources
from tests.callers import Callers

TRACKER = {"name": "Issue tracker", "url": "https://tracker.example/mcp"}


async def test_the_location_of_a_201_answers_at_once(
    callers: Callers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshot, "OWN_WRITE_TIMEOUT_S", 60.0)
    ada = await callers.user("ada")

    async def make(path: str, body: dict[str, str]) -> int:
        made = await ada.post(path, body)
        assert made.status == 201
        return (await ada.get(made.headers["Location"])).status

    statuses = await asyncio.gather(
        *(make("/api/catalog/agents", {"name": f"A{number}"}) for number in range(20)),
        *(make("/api/mcp/connectors", TRACKER) for _ in range(20)),
        *(
            make("/api/secrets", {"name": f"S{number}", "value": "x"})
            for number in range(20)
        ),
    )

    assert {*statuses} == {200}


async def test_a_read_does_not_wait_for_what_another_token_wrote(
    callers: Callers, client: TestClient
) -> None:
    ada, bob = await callers.user("ada"), await callers.user("bob")
    await ada.post("/api/catalog/agents", {"name": "A"})

    assert (await bob.get("/api/catalog/agents")).status == 200

    assert len(client.app[OWN_WRITES].positions) == 1


async def test_followers_that_stand_still_delay_a_read_but_do_not_fail_it(
    callers: Callers,
    client: TestClient,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshot, "OWN_WRITE_TIMEOUT_S", 0.05)
    ada = await callers.user("ada")
    await ada.post("/api/catalog/agents", {"name": "A"})
    positions = client.app[OWN_WRITES].positions
    for token, (epoch, position) in [*positions.items()]:
        # Beyond the log, which no follower reaches.
        positions[token] = (epoch, position + 1000)

    assert (await ada.get("/api/catalog/agents")).status == 200
