"""PostgreSQL servers that replicate: a primary, its standbys, and their fail-over."""

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

from service.embedded_postgres.account import change_owner, server_account
from service.embedded_postgres.binaries import packaged_binaries
from service.embedded_postgres.processes import ENVIRONMENT
from tests.support.harness.process import ending_with_parent
from tests.support.harness.process_tree import children, kill_tree
from tests.support.waiting import until_blocking

PORT = "5432"
TEMPORARY = "/tmp"  # noqa: S108
DATABASE = "agent_runtime"
SETTINGS = {
    "listen_addresses": "",
    "port": PORT,
    "fsync": "off",
    "max_connections": "200",
    "shared_buffers": "32MB",
    "wal_sender_timeout": "60s",
}


@dataclass(slots=True)
class Server:
    """One PostgreSQL; its name is also that of its standby connection.

    ``words`` are further ones before its program, for the clock that it goes by.
    """

    name: str
    folder: Path
    words: Sequence[str] = ()
    popen: "subprocess.Popen[bytes] | None" = field(default=None)
    settings: Mapping[str, str] = field(default_factory=dict)

    @property
    def data(self) -> Path:
        return self.folder / "data"

    @property
    def url(self) -> str:
        return self.url_of(DATABASE)

    def url_of(self, database: str) -> str:
        return (
            f"host={self.folder} port={PORT} user=postgres dbname={database}"
            " connect_timeout=5"
        )

    def start(self) -> None:
        settings = {
            **SETTINGS,
            "unix_socket_directories": str(self.folder),
            **self.settings,
        }
        options = [word for item in settings.items() for word in ("-c", "=".join(item))]
        postgres = program(self.folder, "postgres", "-D", str(self.data), *options)
        account = len(as_server_account(self.folder))
        command = [*postgres[:account], *self.words, *postgres[account:]]
        with (self.folder / "log").open("ab") as log:
            self.popen = subprocess.Popen(
                command,
                stdout=log,
                stderr=log,
                env=ENVIRONMENT,
                start_new_session=True,
            )
        until_blocking(self._answers)

    @property
    def is_running(self) -> bool:
        return self.popen is not None

    def execute(
        self, statement: str, database: str = "postgres"
    ) -> list[tuple[object, ...]]:
        with psycopg.connect(self.url_of(database), autocommit=True) as db:
            cursor = db.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def set(self, name: str, value: str) -> None:
        self.execute(f"ALTER SYSTEM SET {name} = '{value}'")
        self.execute("SELECT pg_reload_conf()")
        until_blocking(lambda: self.execute(f"SHOW {name}") == [(value,)])

    def promote(self) -> None:
        """Make a standby a primary."""
        self.execute("SELECT pg_promote()")
        until_blocking(lambda: self.execute("SELECT pg_is_in_recovery()") == [(False,)])

    def kill(self) -> None:
        """End all of its processes, as a power cut would."""
        if self.popen is None:
            return
        kill_tree(self.popen.pid)
        self.popen.wait()
        self.popen = None

    def stop(self, mode: str, *options: str) -> None:
        """End it as an operator would, with one of the modes of pg_ctl.

        :raises CalledProcessError: it hasn't ended in time
        """
        assert self.popen is not None
        words = (f"--pgdata={self.data}", f"--mode={mode}", *options)
        run_program(self.folder, "pg_ctl", "stop", *words)
        self.popen.wait()
        self.popen = None

    def freeze(self) -> None:
        """Stop all of its processes: its connections stay open, and nothing answers."""
        self._send_all(signal.SIGSTOP)

    def thaw(self) -> None:
        self._send_all(signal.SIGCONT)

    def pause_replay(self) -> None:
        """Let a standby receive what the primary does, and not apply it."""
        self.execute("SELECT pg_wal_replay_pause()")
        until_blocking(
            lambda: (
                self.execute("SELECT pg_get_wal_replay_pause_state()") == [("paused",)]
            )
        )

    def resume_replay(self) -> None:
        self.execute("SELECT pg_wal_replay_resume()")

    def _send_all(self, number: signal.Signals) -> None:
        if self.popen is not None:
            for pid in (self.popen.pid, *children(self.popen.pid)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, number)

    def _answers(self) -> bool:
        assert self.popen is not None
        if self.popen.poll() is not None:
            raise RuntimeError((self.folder / "log").read_text()[-2000:])
        try:
            self.execute("SELECT 1")
        except psycopg.OperationalError:
            return False
        return True


@dataclass(slots=True)
class Replication:
    """A primary, and a standby that it commits to synchronously."""

    primary: Server
    standby: Server

    @property
    def url(self) -> str:
        """The URL of the one that is the primary."""
        hosts = f"{self.primary.folder},{self.standby.folder}"
        return (
            f"host={hosts} port={PORT},{PORT} user=postgres dbname={DATABASE}"
            " target_session_attrs=read-write connect_timeout=5"
        )

    def wait_for_standby(self) -> None:
        """Commit to the standby from now on, as soon as it follows."""
        self.primary.set("synchronous_standby_names", self.standby.name)
        until_blocking(
            lambda: (
                self.primary.execute("SELECT sync_state FROM pg_stat_replication")
                == [("sync",)]
            )
        )

    def fail_over(self) -> None:
        """Lose the primary for good, and promote the standby."""
        self.primary.kill()
        if not self.standby.is_running:
            self.standby.start()
        self.standby.promote()


def program(folder: Path, name: str, *arguments: str) -> Sequence[str]:
    """Return the command of a PostgreSQL program; not as root, which it refuses."""
    return [*as_server_account(folder), str(packaged_binaries() / name), *arguments]


def as_server_account(folder: Path, program: Path | None = None) -> Sequence[str]:
    """Return the words before a command that run it as PostgreSQL's user.

    The kernel kills it when the thread that started it ends. It keeps the capability
    to enter all folders where others than root can't reach a program.
    """
    words: list[str] = []
    if os.geteuid() == 0:
        uid, gid = server_account(folder / "none")
        words = ["setpriv", f"--reuid={uid}", f"--regid={gid}", "--clear-groups"]
        if program and not _is_open(program):
            words += [f"--{kind}-caps=+dac_read_search" for kind in ("inh", "ambient")]
    if ending_with_parent():
        words = [*(words or ["setpriv"]), "--pdeathsig=KILL"]
    return words


def _is_open(program: Path) -> bool:
    return all(each.stat().st_mode & 0o001 for each in program.resolve().parents)


def run_program(folder: Path, name: str, *arguments: str) -> None:
    subprocess.run(
        program(folder, name, *arguments),
        check=True,
        env=ENVIRONMENT,
        cwd="/",
        stdout=subprocess.DEVNULL,
    )


@contextmanager
def new_folder(name: str, parent: str = TEMPORARY) -> Iterator[Path]:
    """Make a folder of PostgreSQL's user, with a path short enough for a socket."""
    folder = Path(tempfile.mkdtemp(prefix=f"pg-{name}-", dir=parent))
    change_owner(folder, *server_account(folder / "none"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def primary_server(
    name: str = "s0", *, words: Sequence[str] = (), **settings: str
) -> Iterator[Server]:
    with new_folder(name) as folder:
        run_program(
            folder,
            "initdb",
            f"--pgdata={folder / 'data'}",
            "--username=postgres",
            "--auth=trust",
            "--encoding=UTF8",
            "--locale=C",
            "--no-sync",
        )
        server = Server(name, folder, words, settings=settings)
        server.start()
        try:
            server.execute(f"CREATE DATABASE {DATABASE}")
            yield server
        finally:
            server.kill()


@contextmanager
def standby_of(primary: Server, name: str = "s1") -> Iterator[Server]:
    with new_folder(name) as folder:
        run_program(
            folder,
            "pg_basebackup",
            f"--pgdata={folder / 'data'}",
            "--checkpoint=fast",
            "--write-recovery-conf",
            "--no-sync",
            "--wal-method=stream",
            f"--dbname=host={primary.folder} port={PORT} user=postgres"
            f" application_name={name}",
        )
        server = Server(name, folder)
        server.start()
        try:
            yield server
        finally:
            server.kill()


@contextmanager
def replicating() -> Iterator[Replication]:
    """Run a primary with a synchronous standby."""
    with primary_server() as primary, standby_of(primary) as standby:
        pair = Replication(primary, standby)
        pair.wait_for_standby()
        yield pair
