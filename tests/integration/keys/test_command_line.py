"""The root keys on the command line: rotation, and what is refused."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from service.keys.cipher import SecretBinding
from service.keys.key_ring import KeyRing
from service.open_resources import open_resources
from tests.support.harness.service import agent_runtime

KEY_RING = "keys.json"


def said_by(*arguments: str, exits: int = 0) -> str:
    done = agent_runtime(*arguments)
    assert done.returncode == exits, done.stderr
    return done.stdout + done.stderr


def test_the_command_line_rotates_and_says_what_is_where(
    database_url: str, tmp_path: Path
) -> None:
    async def prepare() -> None:
        async with open_resources(database_url, tmp_path) as opened:
            binding = SecretBinding(
                owner_id=uuid4(), secret_id=uuid4(), name="x", version=1
            )
            await opened.vault.seal_secret("swordfish", binding)

    asyncio.run(prepare())
    old_id = KeyRing.load(tmp_path / KEY_RING).primary_id
    settings = ["--database-url", database_url, "--data-dir", str(tmp_path)]

    said = said_by("keys", "rotate", *settings)

    new_id = KeyRing.load(tmp_path / KEY_RING).primary_id
    assert f"all user keys are wrapped under root key {new_id}" in said
    assert f"root key {old_id} is now needed only by older backups" in said
    said = said_by("keys", "status", *settings)
    assert f"root key {new_id}: primary, in the data folder, 1 user keys" in said
    assert old_id not in said


def test_the_command_line_says_that_a_root_key_is_still_in_use(
    database_url: str, tmp_path: Path
) -> None:
    async def prepare() -> None:
        async with open_resources(database_url, tmp_path):
            pass

    asyncio.run(prepare())
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute(
            "CREATE TABLE public.another_use AS"
            " SELECT root_key_id FROM events.root_key_canary"
        )
        owner.execute(
            "ALTER TABLE public.another_use ADD FOREIGN KEY (root_key_id)"
            " REFERENCES events.root_key_canary"
        )
    old_id = KeyRing.load(tmp_path / KEY_RING).primary_id
    settings = ["--database-url", database_url, "--data-dir", str(tmp_path)]

    said = said_by("keys", "rotate", *settings, exits=1)

    assert f"root key {old_id} is still needed" in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda path: path.unlink(), "is missing or not the right one"),
        (lambda path: path.write_text("{}"), "not a key ring"),
    ],
)
def test_a_wrong_ring_keeps_the_service_from_starting(
    database_url: str,
    tmp_path: Path,
    damage: Callable[[Path], object],
    complaint: str,
) -> None:
    async def prepare() -> None:
        async with open_resources(database_url, tmp_path):
            pass

    asyncio.run(prepare())
    damage(tmp_path / KEY_RING)
    settings = ["--database-url", database_url, "--data-dir", str(tmp_path)]
    said = said_by("serve", "--port", "0", *settings, exits=78)
    assert complaint in said
    assert "Traceback" not in said
