"""An old backup of the log comes back under read tables that are newer."""

import asyncio
import subprocess

import orjson
import psycopg
import pytest

from service.embedded_postgres.binaries import packaged_binaries
from tests.instruments.faults.checks import Findings
from tests.instruments.faults.checks.tables import check_tables, until_caught_up
from tests.instruments.faults.run import running
from tests.instruments.faults.stage import Cast, Stage, set_up
from tests.support.harness.http_connection import HttpConnection
from tests.support.waiting import until

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1200)]
RECOGNISED_S = 30
STOPPED = "SELECT follower FROM read.position WHERE reason IS NOT NULL"


def postgres_tool(name: str, *arguments: str) -> None:
    subprocess.run([str(packaged_binaries() / name), *arguments], check=True)


async def stopped_because(stage: Stage) -> set[str]:
    """Wait until every follower that has read events says why it can't go on."""
    connection = HttpConnection(stage.followers[0].port)
    async with asyncio.timeout(RECOGNISED_S):
        while True:
            reply = await connection.request("GET", "/readyz", {}, timeout_s=5)
            data = orjson.loads(reply.body)["data"]
            reasons = {each["stopped"] for each in data["followers"]}
            if data["status"] == "degraded" and None not in reasons:
                connection.close()
                return reasons
            await asyncio.sleep(0.1)


async def until_rebuilt(stage: Stage) -> None:
    """Wait until no follower says any more that it can't go on."""
    with psycopg.connect(stage.url, autocommit=True) as db:
        await until(lambda: not db.execute(STOPPED).fetchall(), timeout_s=RECOGNISED_S)


async def test_followers_refuse_a_log_that_is_older_than_their_tables() -> None:
    findings = Findings()
    async with set_up(Cast(apis=1, followers=1)) as stage:
        backup = stage.folder / "log.dump"
        async with running(stage, seed=6, pause_s=0.02) as run:
            await run.load.until_acknowledged(150, timeout_s=60)
            postgres_tool(
                "pg_dump",
                *("--format", "custom", "--schema", "events"),
                *("--file", str(backup), stage.url),
            )
            await run.load.until_acknowledged(150, timeout_s=60)
        await until_caught_up(stage.url, findings, timeout_s=60)
        for each in stage.programs:
            each.kill()
        with psycopg.connect(stage.url, autocommit=True) as db:
            db.execute("DROP SCHEMA events CASCADE")
        postgres_tool(
            "pg_restore", "--exit-on-error", "--dbname", stage.url, str(backup)
        )
        stage.followers[0].start()
        await stage.followers[0].ready(timeout_s=60)

        reasons = await stopped_because(stage)

        assert all(each.startswith("the log ends at ") for each in reasons), reasons

        stage.followers[0].kill()
        with psycopg.connect(stage.url, autocommit=True) as db:
            db.execute("UPDATE events.head SET epoch = gen_random_uuid()")
        stage.followers[0].start()
        await until_rebuilt(stage)
        await until_caught_up(stage.url, findings, timeout_s=60)
        stage.followers[0].kill()
        await check_tables(stage.url, findings)

    assert findings == []
