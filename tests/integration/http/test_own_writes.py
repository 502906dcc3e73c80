"""A read reflects what the same token wrote a moment ago, without X-Min-Position."""

import asyncio

import pytest
from aiohttp.test_utils import TestClient

from projections.engine import snapshot
from projections.engine.progress import wait_for_position
from service.database import Pool
from service.http.own_writes import OWN_WRITES
from service.resources import Resources
from tests.support.callers import Callers
from tests.support.connectors.making import TRACKER


async def test_the_location_of_a_201_answers_at_once(
    callers: Callers,
) -> None:
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

    assert len(client.app[OWN_WRITES].writes) == 1


async def test_followers_are_asked_once_for_a_write(
    callers: Callers, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits: list[int] = []

    async def counted(
        pool: Pool, names: list[str], position: int, *, timeout_s: float
    ) -> None:
        waits.append(position)
        await wait_for_position(pool, names, position, timeout_s=timeout_s)

    monkeypatch.setattr(snapshot, "wait_for_position", counted)
    ada = await callers.user("ada")
    first = await ada.post("/api/catalog/agents", {"name": "A"})
    for _ in range(3):
        await ada.get("/api/catalog/agents")
    second = await ada.post("/api/catalog/agents", {"name": "B"})
    await ada.get("/api/catalog/agents")

    assert waits == [first.position, second.position]


async def test_followers_that_stand_still_delay_a_read_but_do_not_fail_it(
    callers: Callers,
    client: TestClient,
    resources: Resources,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(snapshot, "OWN_WRITE_TIMEOUT_S", 0.05)
    ada = await callers.user("ada")
    await ada.post("/api/catalog/agents", {"name": "A"})
    for write in client.app[OWN_WRITES].writes.values():
        # Beyond the log, which no follower reaches.
        write.position += 1000

    assert (await ada.get("/api/catalog/agents")).status == 200
