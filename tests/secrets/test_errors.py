"""What callers are told when a value can't be opened, or its key can't be had."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from aiohttp.test_utils import TestClient, TestServer
from prometheus_client import REGISTRY

from service.app import create_app
from service.keys.key_program import ExecRootKeys
from service.resources import Resources, open_resources
from tests.callers import Caller, Callers

PATH = "/api/secrets/TOKEN"
NEW = {"name": "TOKEN", "value": "swordfish"}
KEY_PROGRAM = Path(__file__).parents[1] / "keys" / "key_program.py"
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
    behind_a_program: Resources, program: Path
) -> None:
    app = create_app(behind_a_program)
    async with TestClient(TestServer(app)) as client:
        ada = await Callers(behind_a_program, client).user("ada")
        write(program, "#!/bin/sh\nexit 1\n")
        reply = await ada.post("/api/secrets", NEW)
        assert (reply.status, reply.code) == (503, "root_key_unavailable")
        assert reply.headers["Retry-After"] == "5"
        assert b"program" not in reply.body
        assert "X-Event-Position" not in reply.headers
        write(program, HONEST)
        assert (await ada.post("/api/secrets", NEW)).status == 201


async def test_a_value_put_into_another_row_is_not_given_out(
    callers: Callers, resources: Resources
) -> None:
    ada: Caller = await callers.user("ada")
    for name in ("TOKEN", "OTHER"):
        await ada.post("/api/secrets", {**NEW, "name": name})
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


async def test_a_row_that_was_lost_is_a_value_destroyed(
    callers: Callers, resources: Resources
) -> None:
    ada = await callers.user("ada")
    await ada.post("/api/secrets", NEW)
    async with resources.pool.connection() as db:
        await db.execute("DELETE FROM events.sealed_value")
    reply = await ada.get(f"{PATH}/value")
    assert (reply.status, reply.code) == (409, "value_destroyed")
