"""Data folders that the embedded PostgreSQL can't use, and odd ones that it can."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from service.cli.databases import database
from service.cli.running import EXIT_CONFIG
from service.config import Config
from service.embedded_postgres.folder import HOME_BYTES_MAX
from service.embedded_postgres.server import EmbeddedPostgres
from service.errors import ConfigError
from tests.support.refusal import refusal

pytestmark = pytest.mark.usefixtures("logging_as_it_was")


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder that every user can enter."""
    with tempfile.TemporaryDirectory(prefix="agent-runtime-test-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder).resolve()


def refused(
    capsys: pytest.CaptureFixture[str], folder: Path, command: str = "serve"
) -> str:
    options = ("--port", "0") if command == "serve" else ()
    status, words = refusal(capsys, command, "--data-dir", str(folder), *options)
    assert status == EXIT_CONFIG
    # One line, and perhaps log lines before it.
    return words.rpartition("agent-runtime: ")[2]


def made_by(version: str, folder: Path) -> None:
    cluster = folder / "postgres" / "cluster"
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text(f"{version}\n")


@pytest.mark.parametrize("command", ["serve", "doctor", "migrate"])
@pytest.mark.parametrize("version", ["17", "9.6"])
def test_a_database_of_an_older_postgresql(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, version: str
) -> None:
    made_by(version, tmp_path)

    words = refused(capsys, tmp_path, command)

    assert f"{tmp_path} was made by PostgreSQL {version}, " in words
    assert "runs PostgreSQL 18: " in words
    assert "'agent-runtime backup' with the version of agent-runtime that" in words
    assert "'agent-runtime restore' with this one" in words


def test_a_database_of_a_newer_postgresql(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    made_by("19", tmp_path)

    words = refused(capsys, tmp_path)

    assert "by PostgreSQL 19, " in words
    assert "PostgreSQL 18: use the version of agent-runtime that made it" in words


@pytest.mark.parametrize("target", ["missing", "link"])
def test_a_link_that_leads_nowhere(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, target: str
) -> None:
    link = tmp_path / "link"
    link.symlink_to(tmp_path / target)

    assert refused(capsys, link).startswith(
        f"{link} is a link that leads to no folder: set --data-dir to "
    )


def test_a_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()

    assert refused(capsys, file).startswith(f"{file} is a file: set --data-dir to ")


@pytest.mark.parametrize("command", ["serve", "doctor", "migrate"])
@pytest.mark.parametrize("path", ["c" * 300, "d/" * 2500])
def test_a_path_too_long_for_the_system(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, command: str, path: str
) -> None:
    assert refused(capsys, tmp_path / path, command) == (
        "AGENT_RUNTIME_DATA_DIR: File name too long, so the folder can't be used:"
        " choose another one"
    )


def data_dir_of(length: int, folder: Path) -> Path:
    """Return a data folder in which PostgreSQL's has a path of so many bytes."""
    missing = length - len(f"{folder}/postgres")
    while missing > 200:
        folder /= "d" * 99
        missing -= 100
    return folder / ("d" * (missing - 1))


def test_a_path_too_long_for_postgresql(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = data_dir_of(HOME_BYTES_MAX + 1, tmp_path)

    assert refused(capsys, folder).endswith(
        f"/postgres is too long for PostgreSQL: it has {HOME_BYTES_MAX + 1} bytes, and"
        f" {HOME_BYTES_MAX} are possible; choose another data folder"
    )


@pytest.mark.thorough
def test_the_longest_path_that_is_not_refused_works(open_folder: Path) -> None:
    works(data_dir_of(HOME_BYTES_MAX, open_folder))


@pytest.mark.thorough
@pytest.mark.parametrize(
    "name",
    ["sp ace", "%20%", "?a=b&c=d#e", "代理 łódź", "q'u\"o`te", "a,b;c\\d", "$HOME"],
)
def test_an_odd_name_works(open_folder: Path, name: str) -> None:
    works(open_folder / name)


def works(data_dir: Path) -> None:
    # Root's user for PostgreSQL can't pass the folder that the service would make.
    data_dir.mkdir(parents=True)
    with (
        EmbeddedPostgres.start(data_dir),
        psycopg.connect(EmbeddedPostgres.url_of_running(data_dir)) as db,
    ):
        assert db.execute("SHOW data_directory").fetchone() == (
            f"{data_dir}/postgres/cluster",
        )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root changes user")
@pytest.mark.parametrize("mode", [0o555, 0o711])
def test_a_folder_of_another_user(open_folder: Path, mode: int) -> None:
    data_dir = open_folder / "data"
    data_dir.mkdir()
    data_dir.chmod(mode)
    os.seteuid(65534)
    try:
        with (
            pytest.raises(
                ConfigError, match="user 65534 can't write to the data folder"
            ),
            database(Config.read({"data_dir": data_dir}, {})),
        ):
            pass
    finally:
        os.seteuid(0)
