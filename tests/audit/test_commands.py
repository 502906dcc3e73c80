"""``agent-runtime audit``, as a reviewer runs it, and as which role."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import make_conninfo

from projections.position import wait_for_position
from service.cli import main
from service.database import READER_ROLE
from service.resources import Resources
from service.review import reading_database
from tests.audit.tampering import as_owner, sign
from tests.callers import Callers


@pytest.fixture
def reviewer(resources: Resources) -> str:
    """A login that may do nothing but what auditors may, in a database to read."""
    name = f"reviewer_{resources.database_url.split('dbname=')[1].split()[0]}"
    with psycopg.connect(resources.database_url, autocommit=True) as db:
        db.execute(f"CREATE ROLE {name} LOGIN")
        db.execute(f"GRANT {READER_ROLE} TO {name}")
        # As on a replica, nothing can be written, whatever one asks for.
        db.execute(f"ALTER ROLE {name} SET default_transaction_read_only = on")
    return make_conninfo(resources.database_url, user=name)


def run(*arguments: str) -> int:
    return main(["audit", *arguments])


async def test_a_reviewer_has_a_readers_rights(
    reviewer: str, resources: Resources
) -> None:
    for url in (reviewer, resources.database_url):
        async with reading_database(url) as db:
            row = await (
                await db.execute(
                    "SELECT current_user, current_setting('transaction_read_only')"
                )
            ).fetchone()
        assert row == (READER_ROLE, "on")


async def exports(
    url: str, tmp_path: Path, *options: str, name: str = "export"
) -> Path:
    path = tmp_path / name
    status = await asyncio.to_thread(
        run, "events", "--database-url", url, "--output", str(path), *options
    )
    assert status == 0
    return path


async def test_export_and_verification_by_a_reader(
    callers: Callers,
    resources: Resources,
    reviewer: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("ada", "bob"):
        await callers.user(name)
    signed = await sign(resources, tmp_path)
    data_dir = ["--data-dir", str(tmp_path / "none")]
    sound = await exports(reviewer, tmp_path, *data_dir)
    await as_owner(
        resources,
        "UPDATE events.stored_event SET state = state || '\\x20'"
        " WHERE notification_id = 3",
    )
    changed = await exports(reviewer, tmp_path, *data_dir, name="changed")
    with_key = ["--public-key", str(tmp_path / "checkpoints" / "public-key")]
    with_checkpoints = ["--checkpoint", str(tmp_path / "checkpoints")]

    assert run("verify", str(sound), *with_key, *with_checkpoints) == 0
    assert capsys.readouterr().out == "4 entries are as they were signed\n"
    assert run("verify", str(changed), *with_key, *with_checkpoints) == 1
    assert "position 3 is not the one recorded there" in capsys.readouterr().out
    text_of_key = ["--public-key", str(signed.key)]
    assert run("verify", str(sound), *text_of_key, *with_checkpoints) == 0
    capsys.readouterr()
    other = [
        "--public-key",
        "example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k",
    ]
    assert run("verify", str(sound), *other, *with_checkpoints) == 2
    assert "no known key has signed" in capsys.readouterr().err
    assert run("verify", str(tmp_path / "no"), *with_key, *with_checkpoints) == 2


async def test_checkpoint_and_key_are_printed(
    callers: Callers,
    resources: Resources,
    reviewer: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    await callers.user("ada")
    before = await asyncio.to_thread(run, "checkpoint", "--database-url", reviewer)
    assert (before, capsys.readouterr().out) == (1, "")
    signed = await sign(resources, tmp_path)

    for options, printed in (([], signed.note), (["--key"], f"{signed.key}\n")):
        status = await asyncio.to_thread(
            run, "checkpoint", "--database-url", reviewer, *options
        )
        assert (status, capsys.readouterr().out) == (0, printed)


async def test_filters_and_formats(
    callers: Callers, resources: Resources, reviewer: str, tmp_path: Path
) -> None:
    ada = await callers.user("ada")
    made = await ada.post("/api/catalog/agents", {"name": "Triage"})
    await ada.get("/api/catalog/agents", X_Min_Position=str(made.position))
    await _wait(resources, made.position)

    by_actor = await exports(reviewer, tmp_path, "--actor", str(ada.user_id))
    as_csv = await exports(
        reviewer, tmp_path, "--format", "csv", "--kind", "agent", name="csv"
    )

    assert len(by_actor.read_text().splitlines()) == 1
    header, row = as_csv.read_text().splitlines()
    assert header.startswith("position,recorded_at,")
    assert "registered the agent 'Triage'" in row


async def _wait(resources: Resources, position: int) -> None:
    await wait_for_position(resources.pool, ["audit_trail"], position, timeout_s=10)


def test_bad_filters_are_settings_that_cant_be_used(
    database_url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = run("events", "--database-url", database_url, "--actor", "ada")

    assert status == 78
    assert "--actor" in capsys.readouterr().err
