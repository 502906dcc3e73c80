"""A connection that has another role or other settings than the service asked for."""

import asyncio
from pathlib import Path

import psycopg
import pytest

from service.database import (
    WrongSessionError,
    connect,
    service_conninfo,
    time_limits,
)
from service.waits import Waits
from tests.support.harness.service import agent_runtime, serving
from tests.support.postgres_proxy import Proxy

EXIT_CONFIG = 78


async def test_dropped_options_are_noticed(proxy: Proxy, database_url: str) -> None:
    conninfo = service_conninfo(proxy.url(database_url))
    proxy.drops_options = True

    with pytest.raises(WrongSessionError) as wrong:
        await connect(conninfo)

    assert "role postgres instead of agent_runtime_service" in str(wrong.value)
    limit = time_limits(Waits())["statement_timeout"]
    assert f"statement_timeout 0 instead of {limit}" in str(wrong.value)


@pytest.mark.parametrize("value", ["off", "local"])
async def test_commits_that_do_not_wait_are_refused(
    database_url: str, value: str
) -> None:
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute(
            "ALTER ROLE postgres IN DATABASE"
            f" {owner.info.dbname} SET synchronous_commit = {value}"
        )

    with pytest.raises(WrongSessionError, match=f"synchronous_commit {value}"):
        await connect(service_conninfo(database_url))

    asked_for = service_conninfo(database_url, synchronous_commit="off")
    await (await connect(asked_for)).close()


async def test_serve_exits_with_the_reason(
    proxy: Proxy, database_url: str, tmp_path: Path
) -> None:
    url = proxy.url(database_url)
    proxy.drops_options = True

    ended = await asyncio.to_thread(
        agent_runtime,
        *("serve", "--port", "0", "--database-url", url),
        *("--data-dir", str(tmp_path)),
    )

    assert ended.returncode == EXIT_CONFIG
    assert "role postgres instead of agent_runtime_service" in ended.stderr
    assert "connection pooler" in ended.stderr


@pytest.mark.thorough
async def test_a_serving_process_exits_when_its_connections_change(
    proxy: Proxy, database_url: str, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    options = ["--only", "api", "--database-url", proxy.url(database_url)]
    server = serving(*options, "--data-dir", str(tmp_path / "data"), log=log)
    server.start()
    try:
        await asyncio.to_thread(server.wait_until_ready)
        proxy.drops_options = True
        proxy.go_away()
        proxy.come_back()

        status = await asyncio.to_thread(server.wait, timeout_s=60)
    finally:
        server.kill()

    assert status == EXIT_CONFIG
    assert "role postgres instead of agent_runtime_service" in log.read_text()
