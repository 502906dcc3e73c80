"""A connector's owner is told that its server sends its credential back."""

import asyncio
import logging
import subprocess
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

import pytest
from aiohttp import web

from service.config import Config
from service.gateway.health import returned_credentials
from service.gateway.health.returned_credentials import ReturnedCredentials
from service.gateway.health.table import CredentialReturned, HealthTable, Succeeded
from service.gateway.upstream.credential_echo import REMOVED
from service.resources import Resources
from tests.integration.gateway.fake_gate import FakeGate
from tests.integration.gateway.plain_upstream import (
    Answer,
    plain_upstream,
)
from tests.integration.gateway.returning import (
    clean_tool,
    lent,
    lists,
    reflecting,
    schema,
    text_of,
)
from tests.integration.gateway.world import ALLOW, World
from tests.integration.secrets.test_leaks import found, new_mark
from tests.support.configured import calling_loopback
from tests.support.gateway.served import stateless
from tests.support.secrets.served import postgres_program
from tests.support.waiting import until


async def test_the_log_names_the_connector_once_and_never_the_credential(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    async with lent(reflecting(text_of)) as each:
        (made,) = each.stage.gate.upstreams.values()
        each.stage.gate.upstreams[made.connector_id] = replace(made, name="Issues")
        for _ in range(3):
            await each.stage.call("tools_add")

    told = [log for log in caplog.records if log.name == returned_credentials.__name__]
    assert [log.levelname for log in told] == ["INFO"]
    assert "connector 'Issues' at 127.0.0.1:" in told[0].getMessage()
    each.assert_clean(repr([vars(log) for log in caplog.records]))
    # The first at once, the others when the minute, or the process, ends.
    assert [noted.answers for noted in each.stage.returned] == [1, 2]


async def test_the_rest_of_a_minute_is_one_write(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted: list[int] = []

    async def note(each: CredentialReturned) -> None:
        noted.append(each.answers)

    upstream = FakeGate().connect("https://a.example/mcp")
    counted = ReturnedCredentials(note)
    counted.count(upstream)
    await until(lambda: noted)
    for _ in range(5):
        counted.count(upstream)
        await asyncio.sleep(0)
    assert noted == [1]
    await counted.close()
    assert noted == [1, 5]

    monkeypatch.setattr(returned_credentials, "INTERVAL_S", 0.0)
    for written in ([1, 5, 1], [1, 5, 1, 1]):
        counted.count(upstream)
        await until(lambda: noted == written)  # noqa: B023
    await counted.close()


async def test_the_table_counts_from_one_url_on(resources: Resources) -> None:
    table, connector = HealthTable(resources.pool), uuid4()
    at = datetime(2026, 1, 1, tzinfo=UTC)

    def returned(url: str, minutes: int, answers: int) -> CredentialReturned:
        then = at + timedelta(minutes=minutes)
        return CredentialReturned(
            connector_id=connector, url=url, at=then, answers=answers
        )

    await table.note(returned("a", 1, 2))
    await table.note(returned("a", 3, 3))
    # Of another process, a little late.
    await table.note(returned("a", 2, 1))
    row = await table.find(connector)
    await table.note(returned("b", 4, 1))
    await table.note(
        Succeeded(
            connector_id=connector,
            url="b",
            at=at,
            tools=1,
            left_out=0,
            left_out_names=[],
            next_at=None,
        )
    )
    moved = await table.find(connector)

    assert row is not None
    assert (row.credential_returns, row.attempted_at) == (6, None)
    assert row.credential_returned_at == at + timedelta(minutes=3)
    assert moved is not None
    assert (moved.credential_url, moved.credential_returns) == ("b", 1)
    assert (moved.tools, moved.cause) == (1, None)


async def told(world: World) -> Any:
    """Return a connector's health, once it says that its credential came back."""
    health = (await world.ada.get(f"{world.connector}/health")).data
    return health if health["credential_returned"] else None


@pytest.fixture
def config() -> Config:
    return calling_loopback()


async def test_a_reflected_credential_is_nowhere_and_its_owner_is_told(
    world: World, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    mark = new_mark()
    answers: list[Answer] = [
        lists(
            *(
                lambda got, name=name: {
                    "name": name,
                    "description": f"Called with {got}",
                    "inputSchema": schema(),
                }
                for name in ("issues.list", "echo")
            ),
            lambda got: {"name": f"x-{got.split()[1]}", "inputSchema": schema()},
            clean_tool("issues.create"),
        ),
        reflecting(text_of),
    ]

    async def answer(request: web.Request, body: Any) -> web.StreamResponse:
        respond: Answer = answers[body["method"] == "tools/call"]
        return await respond(request, body)

    async with plain_upstream(answer) as upstream:
        await world.moves(upstream.url)
        await world.lend(f"{mark}{mark}")
        await world.rule(any=ALLOW)
        observed = await world.ada.post(f"{world.connector}/observe", None)
        definitions = (await world.ada.get(f"{world.connector}/definitions")).data
        health = await until(lambda: told(world))
        named = {"name": world.alias("issues.create"), "arguments": {}}
        body, headers = stateless("tools/call", named)
        headers["Authorization"] = f"Bearer {world.token}"
        path = f"/mcp/agents/{world.agent_id}"
        async with world.client.post(path, json=body, headers=headers) as called:
            result = await called.text()
        listed = await world.listed()

    assert observed.data["tools"] == 3
    tools = {each["tool"]: each for each in definitions["tools"]}
    for name in ("issues.list", "echo"):
        assert tools[name]["standing"] == "unacceptable"
        assert "stop the server" in tools[name]["reason"]
        assert tools[name]["definition"] == {}
    assert listed == ["issues.create"]
    digests = {"definitions": {"echo": tools["echo"]["digest"]}}
    accepted = await world.ada.post(f"{world.connector}/definitions/accept", digests)
    assert accepted.code == "definition_unacceptable"
    assert REMOVED in result
    returned = health["credential_returned"]
    assert returned["count"] == 1
    assert "replace the secret" in returned["message"]
    assert health["left_out"] is None
    assert mark in str(upstream.requests[-1])

    events = await world.recorded()
    dump = await asyncio.to_thread(
        lambda: subprocess.run(
            [postgres_program("pg_dump"), world.resources.database_url],
            check=True,
            capture_output=True,
        )
    )
    places = {
        "database": [dump.stdout],
        "events": [repr([vars(each.event) for each in events]).encode()],
        "log": [repr(vars(record)).encode() for record in caplog.records],
        "answers": [result.encode(), repr([definitions, health]).encode()],
        "metrics": [await (await world.client.get("/metrics")).read()],
    }
    assert b"tool_definitions.observed" in dump.stdout
    assert found(mark, places) == set()
