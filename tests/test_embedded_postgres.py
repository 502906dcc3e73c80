"""The embedded PostgreSQL through starts, stops, kills and odd folders."""

import importlib.util
import os
import shutil
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from service.embedded_postgres import EmbeddedPostgres, _packaged_binaries
from service.embedded_postgres.errors import (
    DataFolderInUseError,
    EmbeddedPostgresError,
    EmbeddedPostgresUnsupportedError,
)
from service.embedded_postgres.folder import LOG_BYTES_MAX, wait_until

PROJECT = Path(__file__).parent.parent
SERVICE = """
import sys
from pathlib import Path
from service.embedded_postgres import EmbeddedPostgres
with EmbeddedPostgres.start(Path(sys.argv[1])) as postgres:
    print(postgres.pid, postgres.url, flush=True)
    sys.stdin.read()
"""

pytestmark = pytest.mark.processes
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes user")


class Service(NamedTuple):
    process: subprocess.Popen[str]
    postgres_pid: int
    url: str


@contextmanager
def another_service(data_dir: Path) -> Iterator[Service]:
    with another_process(data_dir) as process:
        assert process.stdout
        pid, url = process.stdout.readline().split()
        yield Service(process, int(pid), url)


@contextmanager
def another_process(data_dir: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", SERVICE, str(data_dir)],
        cwd=PROJECT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
            # It stops when its input ends.
            process.communicate(timeout=30)
        finally:
            process.kill()


@contextmanager
def sleeper_of_the_server_user(cluster: Path, cwd: str | Path) -> Iterator[int]:
    owner = cluster.stat().st_uid if os.geteuid() == 0 else None
    with subprocess.Popen(["sleep", "60"], cwd=cwd, user=owner) as process:
        try:
            yield process.pid
        finally:
            process.kill()


def query(url: str, statement: str, *parameters: object) -> list[tuple[object, ...]]:
    with psycopg.connect(url, autocommit=True) as db:
        cursor = db.execute(statement.encode(), parameters)
        return cursor.fetchall() if cursor.description else []


def write_row(url: str) -> None:
    query(url, "CREATE TABLE kept (id int)")
    query(url, "INSERT INTO kept VALUES (7)")


def rows(url: str) -> list[tuple[object, ...]]:
    return query(url, "SELECT id FROM kept")


def has_ended(pid: int) -> bool:
    """Tell whether it is gone, or a zombie that nobody has reaped yet."""
    try:
        status = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return status.rpartition(")")[2].split()[0] == "Z"


@pytest.fixture(scope="module")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmbeddedPostgres]:
    with EmbeddedPostgres.start(tmp_path_factory.mktemp("shared")) as postgres:
        yield postgres


def test_a_later_start_finds_the_rows_of_the_first(tmp_path: Path) -> None:
    with EmbeddedPostgres.start(tmp_path / "made" / "at need") as first:
        write_row(first.url)

    with EmbeddedPostgres.start(tmp_path / "made" / "at need") as second:
        assert rows(second.url) == [(7,)]


def test_a_stopped_server_leaves_nothing_behind(tmp_path: Path) -> None:
    postgres = EmbeddedPostgres.start(tmp_path)
    socket_folder = (tmp_path / "postgres" / "socket").readlink()
    assert postgres.poll() is None

    postgres.stop()
    postgres.stop()

    assert postgres.poll() == 0
    assert not socket_folder.exists()
    assert not (tmp_path / "postgres" / "cluster" / "postmaster.pid").exists()


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("data_checksums", "on"),
        ("fsync", "on"),
        ("full_page_writes", "on"),
        ("synchronous_commit", "on"),
        ("listen_addresses", ""),
        ("TimeZone", "UTC"),
        ("server_encoding", "UTF8"),
        ("jit", "off"),
        ("log_parameter_max_length", "0"),
        ("log_parameter_max_length_on_error", "0"),
        ("idle_in_transaction_session_timeout", "1min"),
    ],
)
def test_setting(postgres: EmbeddedPostgres, setting: str, value: str) -> None:
    assert query(postgres.url, f"SHOW {setting}") == [(value,)]


def test_text_sorts_alike_on_every_host(postgres: EmbeddedPostgres) -> None:
    locale = query(
        postgres.url,
        "SELECT datlocprovider::text, datlocale, datcollate FROM pg_database"
        " WHERE datname = current_database()",
    )
    assert locale == [("b", "C.UTF-8", "C")]


def test_nothing_listens_on_tcp(postgres: EmbeddedPostgres) -> None:
    links = [fd.readlink() for fd in Path(f"/proc/{postgres.pid}/fd").iterdir()]
    inodes = {str(link)[8:-1] for link in links if str(link).startswith("socket:")}
    tcp = {
        line.split()[9]
        for family in ("tcp", "tcp6")
        if (table := Path(f"/proc/{postgres.pid}/net/{family}")).exists()
        for line in table.read_text().splitlines()[1:]
    }
    assert inodes
    assert not inodes & tcp


def test_the_socket_is_private(postgres: EmbeddedPostgres) -> None:
    [(folders,)] = query(postgres.url, "SHOW unix_socket_directories")
    folder = Path(str(folders).strip('"'))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@needs_root
def test_another_program_of_the_same_user_is_not_let_in(
    postgres: EmbeddedPostgres,
) -> None:
    server_user = Path(f"/proc/{postgres.pid}").stat().st_uid
    os.seteuid(server_user)
    try:
        with pytest.raises(psycopg.OperationalError, match="Peer authentication"):
            query(postgres.url, "SELECT 1")
    finally:
        os.seteuid(0)


def test_what_statements_carry_is_not_logged(tmp_path: Path) -> None:
    with EmbeddedPostgres.start(tmp_path) as postgres:
        query(postgres.url, "CREATE TABLE secret (value text PRIMARY KEY)")
        query(postgres.url, "INSERT INTO secret VALUES (%s)", "hunter2")
        with pytest.raises(psycopg.errors.UniqueViolation, match="hunter2"):
            query(postgres.url, "INSERT INTO secret VALUES (%s)", "hunter2")
        with pytest.raises(psycopg.errors.DivisionByZero):
            query(postgres.url, "SELECT 1 / 0 WHERE 'hunter2' = %s", "hunter2")

    log = (tmp_path / "postgres" / "postgres.log").read_text()
    assert "unique constraint" in log
    assert "division by zero" in log
    assert "hunter2" not in log


def test_a_long_log_is_moved_aside(tmp_path: Path) -> None:
    (tmp_path / "postgres").mkdir()
    log = tmp_path / "postgres" / "postgres.log"
    log.write_bytes(b"x" * (LOG_BYTES_MAX + 1))

    with EmbeddedPostgres.start(tmp_path):
        assert log.stat().st_size < LOG_BYTES_MAX
        assert log.with_suffix(".log.1").stat().st_size > LOG_BYTES_MAX


def test_a_second_start_on_the_folder_is_refused(tmp_path: Path) -> None:
    with another_service(tmp_path) as service:
        with pytest.raises(DataFolderInUseError) as refusal:
            EmbeddedPostgres.start(tmp_path)

        assert str(tmp_path) in str(refusal.value)
        assert str(service.process.pid) in str(refusal.value)
        assert query(service.url, "SELECT 1") == [(1,)]


def test_a_server_ends_with_its_killed_service(tmp_path: Path) -> None:
    with another_service(tmp_path) as service:
        write_row(service.url)
        leftover = (tmp_path / "postgres" / "socket").readlink()
        service.process.kill()
        service.process.wait()

        with EmbeddedPostgres.start(tmp_path) as postgres:
            assert has_ended(service.postgres_pid)
            assert rows(postgres.url) == [(7,)]
            assert not leftover.exists()


def test_rows_survive_when_service_and_server_are_killed(tmp_path: Path) -> None:
    with another_service(tmp_path) as service:
        write_row(service.url)
        os.kill(service.postgres_pid, signal.SIGKILL)
        service.process.kill()
        service.process.wait()

        with EmbeddedPostgres.start(tmp_path) as postgres:
            assert rows(postgres.url) == [(7,)]


def test_a_killed_server_is_noticed_and_can_be_started_again(tmp_path: Path) -> None:
    with EmbeddedPostgres.start(tmp_path) as postgres:
        write_row(postgres.url)
        os.kill(postgres.pid, signal.SIGKILL)

        assert wait_until(lambda: postgres.poll() is not None, timeout_s=10)
        assert postgres.poll() == -signal.SIGKILL

    with EmbeddedPostgres.start(tmp_path) as postgres:
        assert rows(postgres.url) == [(7,)]


@pytest.mark.parametrize("unreadable", ["", "not a number\n"])
def test_a_damaged_pid_file_is_no_obstacle(tmp_path: Path, unreadable: str) -> None:
    EmbeddedPostgres.start(tmp_path).stop()
    (tmp_path / "postgres" / "cluster" / "postmaster.pid").write_text(unreadable)

    with EmbeddedPostgres.start(tmp_path) as postgres:
        assert query(postgres.url, "SELECT 1") == [(1,)]


def test_a_pid_file_that_names_another_program_is_no_obstacle(tmp_path: Path) -> None:
    EmbeddedPostgres.start(tmp_path).stop()
    cluster = tmp_path / "postgres" / "cluster"

    with sleeper_of_the_server_user(cluster, cwd="/") as foreign_pid:
        (cluster / "postmaster.pid").write_text(f"{foreign_pid}\n{cluster}\n")
        with EmbeddedPostgres.start(tmp_path) as postgres:
            assert query(postgres.url, "SELECT 1") == [(1,)]


def test_a_server_started_by_hand_is_never_joined_by_another(tmp_path: Path) -> None:
    EmbeddedPostgres.start(tmp_path).stop()
    cluster = tmp_path / "postgres" / "cluster"

    with sleeper_of_the_server_user(cluster, cwd=cluster) as pid_by_hand:
        (cluster / "postmaster.pid").write_text(f"{pid_by_hand}\n{cluster}\n")
        with pytest.raises(DataFolderInUseError, match=str(pid_by_hand)):
            EmbeddedPostgres.start(tmp_path)


def test_an_interrupted_first_start_is_begun_anew(tmp_path: Path) -> None:
    unfinished = tmp_path / "postgres" / "cluster.new"
    with another_process(tmp_path) as process:
        assert wait_until((unfinished / "base" / "1").exists, timeout_s=10)
        process.kill()
        process.wait()

        with EmbeddedPostgres.start(tmp_path) as postgres:
            assert query(postgres.url, "SELECT 1") == [(1,)]
            assert not unfinished.exists()


def test_a_path_may_be_long_and_have_spaces(tmp_path: Path) -> None:
    data_dir = tmp_path / "a folder, with 'quotes' and spaces" / ("long" * 30)
    with EmbeddedPostgres.start(data_dir) as postgres:
        assert query(postgres.url, "SHOW data_directory") == [
            (str(data_dir / "postgres" / "cluster"),)
        ]


@needs_root
def test_root_may_keep_everything_in_closed_folders(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    package = _packaged_binaries().parent.parent
    for name in (package.name, f"{package.name}.libs"):
        shutil.copytree(
            package.with_name(name),
            closed / name,
            ignore=shutil.ignore_patterns("include", "pginstall"),
        )
    binaries = closed / _packaged_binaries().relative_to(package.parent)
    # What an installation under umask 077 looks like.
    for program in binaries.iterdir():
        program.chmod(0o700)

    with EmbeddedPostgres.start(closed / "data", binaries=binaries) as postgres:
        assert query(postgres.url, "SELECT 1") == [(1,)]
        assert Path(f"/proc/{postgres.pid}").stat().st_uid != 0
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
        pid = postgres.pid

    assert has_ended(pid)


def test_a_failed_start_quotes_the_log(tmp_path: Path) -> None:
    EmbeddedPostgres.start(tmp_path).stop()
    (tmp_path / "postgres" / "cluster" / "PG_VERSION").write_text("9\n")

    with pytest.raises(EmbeddedPostgresError, match="incompatible with server"):
        EmbeddedPostgres.start(tmp_path)


def test_a_start_is_bounded_in_time(tmp_path: Path) -> None:
    EmbeddedPostgres.start(tmp_path).stop()

    with pytest.raises(EmbeddedPostgresError, match="isn't ready"):
        EmbeddedPostgres.start(tmp_path, timeout_s=0)

    EmbeddedPostgres.start(tmp_path).stop()


def test_another_thread_may_not_start_it(tmp_path: Path) -> None:
    refused = threading.Event()

    def start() -> None:
        with pytest.raises(RuntimeError, match="main thread"):
            EmbeddedPostgres.start(tmp_path)
        refused.set()

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert refused.is_set()


def test_without_the_programs_a_database_url_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(EmbeddedPostgresUnsupportedError, match="database URL"):
        EmbeddedPostgres.start(tmp_path)
