"""Commands that only read leave a database of an older version as it is."""

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from service.cli.main import main
from service.cli.running import EXIT_CONFIG, EXIT_FAILED
from service.embedded_postgres.server import EmbeddedPostgres
from service.migrate import migrations
from tests.support.older_database import database_before, migrate_before

pytestmark = pytest.mark.usefixtures("logging_as_it_was")

NAMES = [each.name for each in migrations()]
LAST = NAMES[-1]
SAID = "the database lacks 1 migration of this version: apply it with"


@pytest.fixture
def older(postgres: str) -> Iterator[str]:
    with database_before(postgres, LAST) as url:
        yield url


def applied(url: str) -> list[str]:
    with psycopg.connect(url) as db:
        rows = db.execute("SELECT name FROM public.agent_runtime_migration ORDER BY 1")
        return [name for (name,) in rows]


def test_doctor_reports_pending_migrations_and_applies_none(
    capsys: pytest.CaptureFixture[str], data_dir: Path, older: str
) -> None:
    data_dir.chmod(0o755)

    status = main(["doctor", "--data-dir", str(data_dir), "--database-url", older])

    failed = [
        line for line in capsys.readouterr().out.splitlines() if line[:4] == "FAIL"
    ]
    assert status == EXIT_FAILED
    assert [line.split(":")[0] for line in failed] == [
        "FAIL  data folder is private",
        "FAIL  migrations are applied",
    ]
    assert f"{SAID} 'agent-runtime migrate'" in failed[1]
    assert applied(older) == NAMES[:-1]


@pytest.mark.parametrize(
    "command",
    [
        "keys status",
        "topic check",
        "topic republish other",
        "prices import genai-prices --dry-run",
    ],
)
def test_commands_that_read_refuse_pending_migrations(
    capsys: pytest.CaptureFixture[str], data_dir: Path, older: str, command: str
) -> None:
    options = ["--data-dir", str(data_dir), "--database-url", older]

    status = main([*command.split(), *options])

    assert applied(older) == NAMES[:-1]
    assert status == EXIT_FAILED
    assert SAID in capsys.readouterr().err


def test_doctor_names_a_migration_of_a_later_version(
    capsys: pytest.CaptureFixture[str], data_dir: Path, database_url: str
) -> None:
    with psycopg.connect(database_url) as db:
        db.execute(
            "INSERT INTO public.agent_runtime_migration (name, sha256)"
            " VALUES ('9999_future.sql', '')"
        )

    status = main(
        ["doctor", "--data-dir", str(data_dir), "--database-url", database_url]
    )

    assert status == EXIT_FAILED
    assert "9999_future.sql, which this version doesn't know" in capsys.readouterr().err


@pytest.mark.parametrize(
    "command", ["doctor", "prices import genai-prices --dry-run", "keys status"]
)
def test_a_missing_data_folder_is_named_instead_of_created(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    database_url: str,
    command: str,
) -> None:
    folder = tmp_path / "mistyped"
    options = ["--data-dir", str(folder), "--database-url", database_url]

    status = main([*command.split(), *options])

    assert not folder.exists()
    assert status == EXIT_CONFIG
    assert f"there is no data folder {folder}" in capsys.readouterr().err


def test_doctor_introduces_no_root_key(data_dir: Path, database_url: str) -> None:
    options = ["--data-dir", str(data_dir), "--database-url", database_url]

    assert main(["doctor", *options]) == 0

    with psycopg.connect(database_url) as db:
        assert db.execute("SELECT FROM events.root_key_canary").fetchall() == []


def test_an_import_of_prices_works_without_keys(
    tmp_path: Path, database_url: str
) -> None:
    options = ["--data-dir", str(tmp_path), "--database-url", database_url]

    assert main(["prices", "import", "genai-prices", "--dry-run", *options]) == 0

    assert not list(tmp_path.iterdir())


@pytest.mark.thorough
def test_the_embedded_database_of_an_older_version_can_be_backed_up(
    capsys: pytest.CaptureFixture[str], data_dir: Path, tmp_path: Path
) -> None:
    with EmbeddedPostgres.start(data_dir) as postgres:
        migrate_before(postgres.url, LAST)
    backup = tmp_path / "older.backup"
    options = ["--data-dir", str(data_dir)]

    backed_up = main(["backup", str(backup), *options])
    exported = main(["audit", "events", *options])
    checked = main(["doctor", *options])

    said = capsys.readouterr()
    assert (backed_up, exported, checked) == (0, EXIT_FAILED, EXIT_FAILED)
    assert SAID in said.err
    assert f"FAIL  migrations are applied: {SAID}" in said.out
    with EmbeddedPostgres.start(data_dir) as postgres:
        assert applied(postgres.url) == NAMES[:-1]
