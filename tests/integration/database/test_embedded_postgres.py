"""The embedded PostgreSQL through starts, stops, kills and odd folders."""

import ctypes
import importlib.util
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, cast

import psutil
import psycopg
import pytest

from service.embedded_postgres.binaries import packaged_binaries
from service.embedded_postgres.errors import (
    DataFolderInUseError,
    EmbeddedPostgresError,
    EmbeddedPostgresUnsupportedError,
)
from service.embedded_postgres.folder import LOG_BYTES_MAX
from service.embedded_postgres.launch_with_prctl import CAP_DAC_READ_SEARCH
from service.embedded_postgres.processes import (
    Launcher,
    default_launcher,
    wait_until,
)
from service.embedded_postgres.server import EmbeddedPostgres
from tests.support.harness.process_tree import has_ended
from tests.support.project import ROOT

SERVICE = """
import sys
from pathlib import Path
from service.embedded_postgres.processes import Launcher
from service.embedded_postgres.server import EmbeddedPostgres
data_dir, launcher = Path(sys.argv[1]), Launcher[sys.argv[2]]
with EmbeddedPostgres.start(data_dir, launcher=launcher) as postgres:
    print(postgres.pid, postgres.url, flush=True)
    sys.stdin.read()
"""

needs_prctl = pytest.mark.skipif(
    default_launcher() is not Launcher.PRCTL, reason="capabilities are of Linux"
)
needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root changes user")


# Where the kernel can end a program with its parent, both ways are tried.
LAUNCHERS = list(dict.fromkeys([default_launcher(), Launcher.WATCHER]))


class Service(NamedTuple):
    process: subprocess.Popen[str]
    postgres_pid: int
    url: str


class Case(NamedTuple):
    """A data folder that PostgreSQL's user can enter, and a way to launch on it."""

    data_dir: Path
    launcher: Launcher

    @property
    def home(self) -> Path:
        return self.data_dir / "postgres"

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

    def start(self, **options: Any) -> EmbeddedPostgres:
        return EmbeddedPostgres.start(self.data_dir, launcher=self.launcher, **options)

    @contextmanager
    def another_service(self) -> Iterator[Service]:
        with self.another_process() as process:
            assert process.stdout
            pid, url = process.stdout.readline().split()
            yield Service(process, int(pid), url)

    @contextmanager
    def another_process(self) -> Iterator[subprocess.Popen[str]]:
        with subprocess.Popen(
            [sys.executable, "-c", SERVICE, str(self.data_dir), self.launcher.name],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                yield process
                # It stops when its input ends.
                process.communicate(timeout=60)
            finally:
                process.kill()


@pytest.fixture(scope="module", params=LAUNCHERS, ids=lambda launcher: launcher.name)
def launcher(request: pytest.FixtureRequest) -> Launcher:
    return cast("Launcher", request.param)


@contextmanager
def open_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="agent-runtime-test-") as folder:
        Path(folder).chmod(0o711)
        yield Path(folder).resolve()


@pytest.fixture
def case(launcher: Launcher) -> Iterator[Case]:
    with open_folder() as folder:
        yield Case(folder, launcher)


@pytest.fixture
def watched() -> Iterator[Case]:
    with open_folder() as folder:
        yield Case(folder, Launcher.WATCHER)


def watcher_of(postgres_pid: int) -> int:
    [watcher] = filter(is_watcher, psutil.Process(postgres_pid).children())
    return int(watcher.pid)


def is_watcher(process: psutil.Process) -> bool:
    try:
        return Launcher.WATCHER.script in process.cmdline()
    except psutil.NoSuchProcess:
        return False


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


@pytest.fixture(scope="module")
def postgres(launcher: Launcher) -> Iterator[EmbeddedPostgres]:
    with open_folder() as folder, Case(folder, launcher).start() as postgres:
        yield postgres


def test_a_later_start_finds_the_rows_of_the_first(case: Case) -> None:
    with case.start() as first:
        write_row(first.url)

    with case.start() as second:
        assert rows(second.url) == [(7,)]


def test_missing_folders_are_made(tmp_path: Path) -> None:
    with Case(tmp_path / "new" / "folder", default_launcher()).start() as postgres:
        assert query(postgres.url, "SELECT 1") == [(1,)]


def test_a_stopped_server_leaves_nothing_behind(case: Case) -> None:
    postgres = case.start()
    socket_folder = (case.home / "socket").readlink()
    assert postgres.poll() is None

    postgres.stop()
    postgres.stop()

    assert postgres.poll() == 0
    assert not socket_folder.exists()
    assert not (case.cluster / "postmaster.pid").exists()


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
    connections = psutil.Process(postgres.pid).net_connections(kind="all")
    assert {connection.family for connection in connections} == {socket.AF_UNIX}


def test_the_socket_is_private(postgres: EmbeddedPostgres) -> None:
    [(folders,)] = query(postgres.url, "SHOW unix_socket_directories")
    folder = Path(str(folders).strip('"'))
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@needs_root
def test_another_program_of_the_same_user_is_not_let_in(
    postgres: EmbeddedPostgres,
) -> None:
    server_user = psutil.Process(postgres.pid).uids().effective
    os.seteuid(server_user)
    try:
        with pytest.raises(psycopg.OperationalError, match="Peer authentication"):
            query(postgres.url, "SELECT 1")
    finally:
        os.seteuid(0)


def test_what_statements_carry_is_not_logged(case: Case) -> None:
    with case.start() as postgres:
        query(postgres.url, "CREATE TABLE secret (value text PRIMARY KEY)")
        query(postgres.url, "INSERT INTO secret VALUES (%s)", "hunter2")
        with pytest.raises(psycopg.errors.UniqueViolation, match="hunter2"):
            query(postgres.url, "INSERT INTO secret VALUES (%s)", "hunter2")
        with pytest.raises(psycopg.errors.DivisionByZero):
            query(postgres.url, "SELECT 1 / 0 WHERE 'hunter2' = %s", "hunter2")

    log = (case.home / "postgres.log").read_text()
    assert "unique constraint" in log
    assert "division by zero" in log
    assert "hunter2" not in log


@pytest.mark.thorough
def test_a_long_log_is_moved_aside(case: Case) -> None:
    case.home.mkdir()
    log = case.home / "postgres.log"
    log.write_bytes(b"x" * (LOG_BYTES_MAX + 1))

    with case.start():
        assert log.stat().st_size < LOG_BYTES_MAX
        assert log.with_suffix(".log.1").stat().st_size > LOG_BYTES_MAX


def test_a_second_start_on_the_folder_is_refused(case: Case) -> None:
    with case.another_service() as service:
        with pytest.raises(DataFolderInUseError) as refusal:
            case.start()

        assert str(case.data_dir) in str(refusal.value)
        assert str(service.process.pid) in str(refusal.value)
        assert query(service.url, "SELECT 1") == [(1,)]


def test_a_server_ends_with_its_killed_service(case: Case) -> None:
    with case.another_service() as service:
        write_row(service.url)
        leftover = (case.home / "socket").readlink()
        service.process.kill()
        service.process.wait()

        with case.start() as postgres:
            assert has_ended(service.postgres_pid)
            assert rows(postgres.url) == [(7,)]
            assert not leftover.exists()


@pytest.mark.thorough
def test_rows_survive_when_service_and_server_are_killed(case: Case) -> None:
    with case.another_service() as service:
        write_row(service.url)
        os.kill(service.postgres_pid, signal.SIGKILL)
        service.process.kill()
        service.process.wait()

        with case.start() as postgres:
            assert rows(postgres.url) == [(7,)]


def test_a_killed_server_is_noticed_and_can_be_started_again(case: Case) -> None:
    with case.start() as postgres:
        write_row(postgres.url)
        os.kill(postgres.pid, signal.SIGKILL)

        assert wait_until(lambda: postgres.poll() is not None, timeout_s=60)
        assert postgres.poll() == -signal.SIGKILL

    with case.start() as postgres:
        assert rows(postgres.url) == [(7,)]


@pytest.mark.thorough
def test_the_watcher_ends_with_a_stopped_server(watched: Case) -> None:
    with watched.start() as postgres:
        watcher = watcher_of(postgres.pid)

    assert wait_until(lambda: has_ended(watcher), timeout_s=60)


def test_a_server_ends_with_its_killed_watcher(watched: Case) -> None:
    with watched.start() as postgres:
        write_row(postgres.url)
        os.kill(watcher_of(postgres.pid), signal.SIGKILL)

        assert wait_until(lambda: postgres.poll() is not None, timeout_s=60)

    with watched.start() as postgres:
        assert rows(postgres.url) == [(7,)]


@pytest.mark.thorough
def test_a_server_ends_when_service_and_watcher_are_killed_at_once(
    watched: Case,
) -> None:
    with watched.another_service() as service:
        write_row(service.url)
        victims = [watcher_of(service.postgres_pid), service.process.pid]
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for victim in victims:
                os.kill(victim, number)
        service.process.wait()

        with watched.start() as postgres:
            assert has_ended(service.postgres_pid)
            assert rows(postgres.url) == [(7,)]


@pytest.mark.parametrize("unreadable", ["", "not a number\n"])
@pytest.mark.thorough
def test_a_damaged_pid_file_is_no_obstacle(case: Case, unreadable: str) -> None:
    case.start().stop()
    (case.cluster / "postmaster.pid").write_text(unreadable)

    with case.start() as postgres:
        assert query(postgres.url, "SELECT 1") == [(1,)]


@pytest.mark.thorough
def test_a_pid_file_that_names_another_program_is_no_obstacle(case: Case) -> None:
    case.start().stop()
    cluster = case.cluster

    with sleeper_of_the_server_user(cluster, cwd="/") as foreign_pid:
        (cluster / "postmaster.pid").write_text(f"{foreign_pid}\n{cluster}\n")
        with case.start() as postgres:
            assert query(postgres.url, "SELECT 1") == [(1,)]


@pytest.mark.thorough
def test_a_server_started_by_hand_is_never_joined_by_another(case: Case) -> None:
    case.start().stop()
    cluster = case.cluster

    with sleeper_of_the_server_user(cluster, cwd=cluster) as pid_by_hand:
        (cluster / "postmaster.pid").write_text(f"{pid_by_hand}\n{cluster}\n")
        with pytest.raises(DataFolderInUseError, match=str(pid_by_hand)):
            case.start()


@pytest.mark.thorough
def test_a_pid_file_that_may_name_a_server_is_kept(
    watched: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    def denied(process: psutil.Process) -> str:
        raise psutil.AccessDenied(process.pid)

    watched.start().stop()
    pid_file = watched.cluster / "postmaster.pid"
    monkeypatch.setattr(psutil.Process, "cwd", denied)

    with sleeper_of_the_server_user(watched.cluster, cwd="/") as pid:
        pid_file.write_text(f"{pid}\n{watched.cluster}\n")
        with pytest.raises(DataFolderInUseError, match=f"may be in use by .* {pid}"):
            watched.start()

        assert pid_file.exists()


@pytest.mark.thorough
def test_an_interrupted_first_start_is_begun_anew(case: Case) -> None:
    unfinished = case.home / "cluster.new"
    with case.another_process() as process:
        assert wait_until((unfinished / "base" / "1").exists, timeout_s=60)
        process.kill()
        process.wait()

        with case.start() as postgres:
            assert query(postgres.url, "SELECT 1") == [(1,)]
            assert not unfinished.exists()


@pytest.mark.thorough
def test_a_path_may_be_long_and_have_spaces(case: Case) -> None:
    data_dir = case.data_dir / "a folder, with 'quotes' and spaces" / ("long" * 30)
    # Root's user for PostgreSQL can't pass the folder that the service would make.
    data_dir.mkdir(parents=True)
    with case._replace(data_dir=data_dir).start() as postgres:
        assert query(postgres.url, "SHOW data_directory") == [
            (str(data_dir / "postgres" / "cluster"),)
        ]


@needs_root
@needs_prctl
@pytest.mark.thorough
def test_root_may_keep_everything_in_closed_folders(tmp_path: Path) -> None:
    closed, binaries = installed_in_closed_folder(tmp_path)

    with EmbeddedPostgres.start(closed / "data", binaries=binaries) as postgres:
        assert query(postgres.url, "SELECT 1") == [(1,)]
        assert psutil.Process(postgres.pid).uids().effective != 0
        assert stat.S_IMODE(closed.stat().st_mode) == 0o700
        pid = postgres.pid
        assert set(capabilities(pid).values()) == {1 << CAP_DAC_READ_SEARCH}

    assert has_ended(pid)


@needs_root
@needs_prctl
def test_programs_that_only_root_can_execute_are_named(tmp_path: Path) -> None:
    closed, binaries = installed_in_closed_folder(tmp_path)
    # What an installation under umask 077 looks like.
    for program in binaries.iterdir():
        program.chmod(0o700)

    with pytest.raises(EmbeddedPostgresError, match=r"can't execute .*chmod -R go\+rX"):
        EmbeddedPostgres.start(closed / "data", binaries=binaries)


@needs_root
@needs_prctl
def test_in_open_folders_root_leaves_postgresql_no_capability(case: Case) -> None:
    with case.start() as postgres:
        assert set(capabilities(postgres.pid).values()) == {0}


def capabilities(pid: int) -> dict[str, int]:
    """Return the sets of a process's capabilities but the bounding set."""
    status = Path(f"/proc/{pid}/status").read_text()
    sets = re.findall(r"^Cap(Inh|Prm|Eff|Amb):\s*([0-9a-f]+)$", status, re.MULTILINE)
    return {name: int(bits, 16) for name, bits in sets}


def installed_in_closed_folder(tmp_path: Path) -> tuple[Path, Path]:
    """Return a folder that only root can enter, and PostgreSQL's programs in it."""
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    package = packaged_binaries().parent.parent
    for name in (package.name, f"{package.name}.libs"):
        shutil.copytree(
            package.with_name(name),
            closed / name,
            ignore=shutil.ignore_patterns("include", "pginstall"),
        )
    return closed, closed / packaged_binaries().relative_to(package.parent)


@needs_root
def test_without_capabilities_a_closed_folder_is_named(watched: Case) -> None:
    watched.data_dir.chmod(0o700)

    with pytest.raises(EmbeddedPostgresError, match=r"can't open .*cluster\.new"):
        watched.start()


def test_a_failed_start_quotes_the_log(case: Case) -> None:
    case.start().stop()
    (case.cluster / "PG_VERSION").write_text("")

    with pytest.raises(EmbeddedPostgresError, match="is not a valid data directory"):
        case.start()


@pytest.mark.thorough
def test_a_start_is_bounded_in_time(case: Case) -> None:
    case.start().stop()

    with pytest.raises(EmbeddedPostgresError, match="isn't ready"):
        case.start(timeout_s=0)

    case.start().stop()


def test_another_thread_may_not_start_it(case: Case) -> None:
    refused = threading.Event()

    def start() -> None:
        with pytest.raises(RuntimeError, match="main thread"):
            case.start()
        refused.set()

    thread = threading.Thread(target=start)
    thread.start()
    thread.join()
    assert refused.is_set()


def test_without_prctl_a_watcher_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda _name: object())

    assert default_launcher() is Launcher.WATCHER


def test_without_the_programs_a_database_url_is_asked_for(
    case: Case, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(EmbeddedPostgresUnsupportedError, match="database URL"):
        case.start()
