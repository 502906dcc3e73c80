"""What callers are told when a value can't be opened, or its key can't be had."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from prometheus_client import REGISTRY
from pytest_aiohttp.plugin import AiohttpClient

from service.app import create_app
from service.cli.doctor import check_installation
from service.keys.destruction import destroy_keys
from service.keys.key_program import ExecRootKeys
from service.open_resources import open_resources
from service.resources import Resources
from service.secrets.aggregate import VERSIONS_KEPT
from service.secrets.missing_values import missing_values
from tests.integration.http.test_failures import log_lines
from tests.integration.secrets.asking import PATH, TOKEN
from tests.support.callers import Caller, Callers
from tests.support.configured import configured
from tests.support.keys.settings import KEY_PROGRAM

HONEST = f"""#!/bin/sh
exec {sys.executable} {KEY_PROGRAM} honest "$1"
"""


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "kms"
    write(path, HONEST)
    return path


def write(program: Path, text: str) -> None:
    program.write_text(text)
    program.chmod(0o700)


@pytest.fixture
async def behind_a_program(
    database_url: str, tmp_path: Path, program: Path
) -> AsyncIterator[Resources]:
    root = await ExecRootKeys.start([str(program)], deadline_s=20)
    async with open_resources(database_url, tmp_path, root=root) as opened:
        yield opened


async def test_a_key_program_that_is_down_means_try_again_later(
    behind_a_program: Resources, program: Path, aiohttp_client: AiohttpClient
) -> None:
    app = create_app(behind_a_program)
    client = await aiohttp_client(app)
    ada = await Callers(behind_a_program, client).user("ada")
    write(program, "#!/bin/sh\nexit 1\n")
    reply = await ada.post("/api/secrets", TOKEN)
    assert (reply.status, reply.code) == (503, "root_key_unavailable")
    assert reply.headers["Retry-After"] == "5"
    assert b"program" not in reply.body
    assert "X-Event-Position" not in reply.headers
    write(program, HONEST)
    assert (await ada.post("/api/secrets", TOKEN)).status == 201


async def test_a_value_put_into_another_row_is_not_given_out(
    callers: Callers, resources: Resources
) -> None:
    ada: Caller = await callers.user("ada")
    for name in (TOKEN["name"], "OTHER"):
        await ada.post("/api/secrets", {**TOKEN, "name": name})
    async with resources.pool.connection() as db:
        await db.execute(
            "UPDATE events.sealed_value v SET sealed = other.sealed"
            "  FROM events.sealed_value other WHERE other.sealed_id <> v.sealed_id"
        )
    counted = "agent_runtime_unreadable_values_total"
    before = REGISTRY.get_sample_value(counted) or 0
    reply = await ada.get(f"{PATH}/value")
    assert (reply.status, reply.code) == (500, "unreadable_value")
    assert "X-Event-Position" not in reply.headers
    assert REGISTRY.get_sample_value(counted) == before + 1


async def test_a_row_that_was_deleted_is_not_a_value_destroyed(
    callers: Callers, resources: Resources, tmp_path: Path
) -> None:
    ada = await callers.user("ada")
    await ada.post("/api/secrets", TOKEN)
    await ada.post("/api/secrets", {**TOKEN, "name": "DELETED"})
    await ada.delete("/api/secrets/DELETED")
    async with resources.pool.connection() as db:
        assert await missing_values(db) == []
        await db.execute("DELETE FROM events.sealed_value")
    counted = "agent_runtime_unreadable_values_total"
    before = REGISTRY.get_sample_value(counted) or 0

    with log_lines() as written:
        reply = await ada.get(f"{PATH}/value")

    assert (reply.status, reply.code) == (500, "unreadable_value")
    assert REGISTRY.get_sample_value(counted) == before + 1
    assert "a sealed value is missing" in written.getvalue()
    async with resources.pool.connection() as db:
        missing = await missing_values(db)
    assert [each.version for each in missing] == [1]
    checks = await check_installation(
        configured(data_dir=str(tmp_path)), resources.database_url, None
    )
    [said] = [each.problem for each in checks if "values of secrets" in each.name]
    assert said is not None
    assert str(missing[0]) in said


async def test_a_value_that_was_destroyed_since_is_not_missing(
    callers: Callers, resources: Resources
) -> None:
    ada = await callers.user("ada")
    await ada.post("/api/secrets", TOKEN)
    for _ in range(VERSIONS_KEPT):
        await ada.put(PATH, {"value": "another"})
    reply = await ada.get(f"{PATH}/value?version=1")
    assert (reply.status, reply.code) == (409, "value_destroyed")

    assert ada.user_id is not None
    async with resources.pool.connection() as db:
        await db.execute("DELETE FROM events.sealed_value")
        assert len(await missing_values(db)) == VERSIONS_KEPT
        await destroy_keys(db, [ada.user_id])
        assert await missing_values(db) == []
