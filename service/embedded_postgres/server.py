"""Run a PostgreSQL for as long as this process lives."""

import logging
import subprocess
import threading
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import psycopg
from psycopg import sql

from service.embedded_postgres import settings
from service.embedded_postgres.binaries import packaged_binaries
from service.embedded_postgres.errors import EmbeddedPostgresError
from service.embedded_postgres.folder import SOCKET_LINK, ServerFolder
from service.embedded_postgres.processes import (
    ESCALATION_TIMEOUT_S,
    STOP_TIMEOUT_S,
    Launcher,
    default_launcher,
    end,
    launch,
    wait_until,
)
from service.ignored_variables import libpq_variables, remove_variables

DATABASE = "agent_runtime"
INITDB_TIMEOUT_S = 120.0
# Long, because recovery after a crash may have a gigabyte of log to read.
START_TIMEOUT_S = 120.0
CONNECT_TIMEOUT_S = 10
LOG_CHECK_S = 60.0
LOG_LINES_SHOWN = 20
# libpq would read ~/.pgpass, and complain of one that others can read.
NO_FILE = "/dev/null/none"

logger = logging.getLogger(__name__)


class EmbeddedPostgres:
    """
    A running PostgreSQL that belongs to this process.

    If it ends by itself, it isn't started again; ``poll`` tells. No variable of libpq
    reaches it: they are removed from this process's environment.
    """

    def __init__(
        self, server: subprocess.Popen[bytes], url: str, cleanup: ExitStack
    ) -> None:
        self.url = url
        self._server = server
        self._cleanup = cleanup

    @classmethod
    def start(
        cls,
        data_dir: Path,
        *,
        binaries: Path | None = None,
        launcher: Launcher | None = None,
        timeout_s: float = START_TIMEOUT_S,
    ) -> Self:
        """
        Start PostgreSQL on ``data_dir/postgres`` and return once it answers.

        Only on the main thread: Linux ends PostgreSQL together with the thread that
        started it. If root starts it, it runs as the owner of its files, at first
        ``postgres`` or ``nobody``.

        :raises DataFolderInUseError: if another process uses the folder
        :raises EmbeddedPostgresUnsupportedError: if a database URL is needed instead
        :raises EmbeddedPostgresError: if it fails, or isn't ready in time
        """
        if threading.current_thread() is not threading.main_thread():
            raise RuntimeError("start the embedded PostgreSQL on the main thread")
        _ignore_libpq_variables()
        binaries = binaries or packaged_binaries()
        launcher = launcher or default_launcher()
        try:
            with ExitStack() as cleanup:
                folder = ServerFolder.lock(data_dir, cleanup)
                _keep_log_bounded(folder, cleanup)
                _initialize(folder, binaries, launcher)
                folder.prepare_start()
                sockets = folder.make_socket_folder(cleanup)
                log_start = folder.log_size()
                server = _launch_server(folder, binaries, launcher, sockets)
                cleanup.callback(end, server, timeout_s=STOP_TIMEOUT_S)
                _wait_until_ready(server, folder, log_start, timeout_s=timeout_s)
                _create_database(_url(sockets, "postgres"))
                return cls(server, _url(sockets, DATABASE), cleanup.pop_all())
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
        _ignore_libpq_variables()
        link = data_dir.resolve() / "postgres" / SOCKET_LINK
        if not link.exists():
            raise EmbeddedPostgresError(f"no PostgreSQL is running in {data_dir}")
        return _url(link.resolve(), DATABASE)

    @staticmethod
    def is_in(data_dir: Path) -> bool:
        """Tell whether the data folder holds the files of a PostgreSQL."""
        return (data_dir / "postgres" / "cluster" / "PG_VERSION").exists()

    @property
    def pid(self) -> int:
        return self._server.pid

    def poll(self) -> int | None:
        """Return PostgreSQL's exit code if it has ended, else None."""
        return self._server.poll()

    def stop(self, *, timeout_s: float = STOP_TIMEOUT_S) -> None:
        """Close every connection and end PostgreSQL; by force after the timeout."""
        end(self._server, timeout_s=timeout_s)
        self._cleanup.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()


def _keep_log_bounded(folder: ServerFolder, cleanup: ExitStack) -> None:
    stopped = threading.Event()

    def check_regularly() -> None:
        while not stopped.wait(LOG_CHECK_S):
            folder.rotate_log()

    folder.rotate_log()
    threading.Thread(target=check_regularly, daemon=True).start()
    cleanup.callback(stopped.set)


def _initialize(folder: ServerFolder, binaries: Path, launcher: Launcher) -> None:
    if folder.cluster.exists():
        return
    unfinished = folder.make_unfinished_cluster()
    log_start = folder.log_size()
    options = (*settings.INITDB_OPTIONS, f"--pgdata={unfinished}")
    command = [str(binaries / "initdb"), *options]
    initdb = _launch(folder, launcher, command, needed=[unfinished])
    try:
        wait_until(lambda: initdb.poll() is not None, timeout_s=INITDB_TIMEOUT_S)
    finally:
        end(initdb, timeout_s=ESCALATION_TIMEOUT_S)
    if initdb.returncode != 0:
        raise _failure("can't be initialized", folder, log_start)
    folder.finish_cluster(unfinished)


def _launch_server(
    folder: ServerFolder, binaries: Path, launcher: Launcher, sockets: Path
) -> subprocess.Popen[bytes]:
    options = settings.command_line(
        folder.home, sockets, restart_after_crash=launcher is not Launcher.WATCHER
    )
    command = [str(binaries / "postgres"), "-D", str(folder.cluster), *options]
    return _launch(folder, launcher, command, needed=[folder.cluster, sockets])


def _launch(
    folder: ServerFolder, launcher: Launcher, command: list[str], *, needed: list[Path]
) -> subprocess.Popen[bytes]:
    with folder.open_log() as log:
        return launch(
            launcher,
            command,
            uid=folder.uid,
            gid=folder.gid,
            needed=needed,
            inherited=folder.server_lock,
            log=log,
        )


def _wait_until_ready(
    server: subprocess.Popen[bytes],
    folder: ServerFolder,
    log_start: int,
    *,
    timeout_s: float,
) -> None:
    wait_until(
        lambda: server.poll() is not None or folder.is_ready(server.pid),
        timeout_s=timeout_s,
    )
    if server.poll() is not None:
        raise _failure("didn't start", folder, log_start)
    if not folder.is_ready(server.pid):
        raise _failure(f"isn't ready after {timeout_s:g} s", folder, log_start)


def _failure(
    problem: str, folder: ServerFolder, log_start: int
) -> EmbeddedPostgresError:
    last = folder.log_since(log_start).splitlines()[-LOG_LINES_SHOWN:]
    return EmbeddedPostgresError(
        "\n".join((f"PostgreSQL in {folder.home} {problem}", *last))
    )


def _ignore_libpq_variables() -> None:
    if ignored := remove_variables(libpq_variables()):
        logger.info(
            "ignored %s: the embedded PostgreSQL is used, for lack of --database-url",
            ", ".join(ignored),
        )


def _url(sockets: Path, database: str) -> str:
    host = quote(str(sockets), "")
    return f"postgresql://postgres@/{database}?host={host}&port=5432&passfile={NO_FILE}"


def _create_database(url: str) -> None:
    try:
        with psycopg.connect(
            url, autocommit=True, connect_timeout=CONNECT_TIMEOUT_S
        ) as db:
            existing = db.execute(
                "SELECT FROM pg_database WHERE datname = %s", [DATABASE]
            ).fetchone()
            if existing is None:
                db.execute(
                    sql.SQL("CREATE DATABASE {}").format(sql.Identifier(DATABASE))
                )
    except psycopg.Error as error:
        raise EmbeddedPostgresError(
            f"PostgreSQL started but refuses the service's connection: {error}"
        ) from error
