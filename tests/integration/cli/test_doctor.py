"""What an operator is told about an installation."""

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import psycopg
import pytest

from service.cli import data_folder_checks, doctor
from service.cli.main import main
from service.cli.running import EXIT_FAILED
from service.event_log.writer_connection import WRITERS_MAX
from service.keys.key_ring import KEY_RING_FILE
from service.open_resources import open_resources
from service.resources import Resources
from service.users.tokens import ADMIN_TOKEN_FILE
from tests.support.callers import Callers

pytestmark = pytest.mark.usefixtures("logging_as_it_was")

UNDATED_SINCE = "2025-01-01"
Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], data_dir: Path, database_url: str) -> Run:
    """Run a command on the data folder and database; return its status and output."""

    def run(*words: str) -> tuple[int, str]:
        options = ["--data-dir", str(data_dir), "--database-url", database_url]
        return main([*words, *options]), capsys.readouterr().out

    return run


def test_nothing_is_wrong_with_a_new_installation(run: Run) -> None:
    status, said = run("doctor")

    assert "ok    service role can only append events" in said
    assert "ok    keys match the database" in said
    # The tests' own PostgreSQL flushes like any other.
    assert (status, "FAIL" in said) == (0, False)


def test_what_is_wrong_is_named(run: Run, data_dir: Path, database_url: str) -> None:
    data_dir.chmod(0o755)
    (data_dir / KEY_RING_FILE).unlink()
    with psycopg.connect(database_url, autocommit=True) as owner:
        owner.execute("GRANT UPDATE ON events.stored_event TO agent_runtime_service")
        owner.execute("UPDATE events.head SET position = 7")
        owner.execute(
            "INSERT INTO read.position (follower, position, epoch, definition, reason)"
            " SELECT 'sessions', 0, epoch, '', 'an event' FROM events.head"
        )

    status, said = run("doctor")

    failed = [line.split(":")[0] for line in said.splitlines() if "FAIL" in line]
    assert status == EXIT_FAILED
    assert failed == [
        "FAIL  data folder is private",
        "FAIL  service role can only append events",
        "FAIL  event positions 1 to 7 have no gaps",
        "FAIL  follower sessions is up to date",
        "FAIL  keys match the database",
    ]


def test_an_old_first_token_and_an_untested_postgresql_are_warnings_a_new_one_is_not(
    run: Run, monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    (data_dir / ADMIN_TOKEN_FILE).touch(mode=0o600)
    status, said = run("doctor")
    assert (status, "WARN" in said, "FAIL" in said) == (0, False, False)
    two_days_ago = time.time() - 2 * 24 * 3600
    os.utime(data_dir / ADMIN_TOKEN_FILE, (two_days_ago, two_days_ago))
    monkeypatch.setattr(doctor, "TESTED_VERSIONS", frozenset({99}))

    status, said = run("doctor")

    warned = [line for line in said.splitlines() if line.startswith("WARN  ")]
    assert [line.split(":")[0] for line in warned] == [
        "WARN  the first token of admin is replaced within 1 day",
        "WARN  PostgreSQL is a version that is tested",
    ]
    assert "isn't tested; use 18" in warned[1]
    assert (status, "FAIL" in said) == (0, False)


async def test_more_processes_that_take_commands_than_help_are_a_warning(
    run: Run, data_dir: Path, database_url: str
) -> None:
    async with AsyncExitStack() as stack:
        for _ in range(WRITERS_MAX):
            await stack.enter_async_context(
                open_resources(database_url, data_dir, takes_commands=True)
            )
        await stack.enter_async_context(open_resources(database_url, data_dir))
        _, before = await asyncio.to_thread(run, "doctor")
        await stack.enter_async_context(
            open_resources(database_url, data_dir, takes_commands=True)
        )

        status, said = await asyncio.to_thread(run, "doctor")

    assert "ok    at most 3 processes take commands" in before
    assert "WARN  at most 3 processes take commands: 4 do" in said
    assert "--reads-only" in said
    assert status == 0


def folder_checked(run: Run) -> str:
    _, said = run("doctor")
    [line] = [line for line in said.splitlines() if "folder" in line]
    return line


@pytest.fixture
def other_user(monkeypatch: pytest.MonkeyPatch, data_dir: Path) -> int:
    """The user of this process, where root owns the data folder."""
    owner = data_dir.stat().st_uid
    monkeypatch.setattr(data_folder_checks, "ROOT_USER", owner)
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    return owner + 1


@pytest.mark.usefixtures("other_user")
@pytest.mark.parametrize("mode", [0o2775, 0o1777])
def test_the_folder_of_a_volume_may_be_open_but_not_the_private_files_in_it(
    run: Run, data_dir: Path, mode: int
) -> None:
    data_dir.chmod(mode)
    kept = data_dir / "keys-k-20260101-00000001.json"
    kept.touch(mode=0o600)
    (data_dir / "agent-url").touch(mode=0o644)

    open_folder = folder_checked(run)
    kept.chmod(0o660)
    open_file = folder_checked(run)

    assert open_folder == "ok    data folder is private"
    assert open_file == (
        f"FAIL  data folder is private: {kept.name} is open to others; "
        "run chmod 600 on it"
    )


@pytest.mark.parametrize("mode", [0o777, 0o2777])
def test_a_folder_in_which_everybody_can_replace_files_is_not_private(
    run: Run, data_dir: Path, other_user: int, mode: int
) -> None:
    data_dir.chmod(mode)

    assert folder_checked(run) == (
        "FAIL  data folder is private: everybody who reaches it can replace the files "
        f"in it; as root run chown {other_user} and chmod 700 on it (a pod's own "
        "emptyDir may stay so)"
    )


@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_the_folder_of_another_user_is_not_private(
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    data_dir: Path,
    other_user: int,
    mode: int,
) -> None:
    owner = data_dir.stat().st_uid
    monkeypatch.setattr(data_folder_checks, "ROOT_USER", owner + 2)
    data_dir.chmod(mode)

    assert folder_checked(run) == (
        f"FAIL  data folder is private: it belongs to user {owner}, who can replace "
        f"the files in it; as root run chown {other_user} and chmod 700 on it"
    )


async def test_only_the_newest_positions_are_checked_for_gaps(
    run: Run, monkeypatch: pytest.MonkeyPatch, callers: Callers, resources: Resources
) -> None:
    for name in ("ada", "bob", "cleo"):
        await callers.user(name)
    url = resources.database_url
    last = (await resources.log.head()).position
    monkeypatch.setattr(doctor, "POSITIONS_CHECKED_MAX", 3)

    async def checked() -> str:
        _, said = await asyncio.to_thread(run, "doctor")
        [line] = [line for line in said.splitlines() if "positions" in line]
        return line

    newest = f"event positions {last - 2} to {last} have no gaps"
    assert await checked() == f"ok    {newest}"
    lose(url, last - 3)
    assert await checked() == f"ok    {newest}"
    lose(url, last - 1)
    assert await checked() == (
        f"FAIL  {newest}: found 3 events from {last - 4} to {last}"
    )


def lose(url: str, position: int) -> None:
    """Delete an event, which only a superuser can, and only with effort."""
    with psycopg.connect(url, autocommit=True) as owner:
        owner.execute("SET session_replication_role = replica")
        owner.execute(
            "DELETE FROM events.stored_event WHERE notification_id = %s", [position]
        )


def test_a_price_list_is_looked_at_imported_and_then_known(
    run: Run, data_dir: Path
) -> None:
    price_list = data_dir / "prices.json"
    price_list.write_text(
        '{"gpt-x": {"litellm_provider": "openai", "mode": "chat",'
        ' "input_cost_per_token": 0.000001, "output_cost_per_token": 0.000002}}'
    )
    words = ("prices", "import", str(price_list), "--undated-since", UNDATED_SINCE)

    looked = run(*words, "--dry-run")
    imported = run(*words)
    again = run(*words)

    assert looked[0] == imported[0] == again[0] == 0
    assert "added openai/gpt-x" in looked[1]
    assert "nothing was changed" in looked[1]
    assert imported[1].startswith("added openai/gpt-x\n1 added, 0 changed")
    assert again[1].startswith("0 added, 0 changed, 1 unchanged")
