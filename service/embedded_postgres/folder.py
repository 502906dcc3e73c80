"""The folder of the embedded PostgreSQL: who holds it, who owns it, what is in it."""

import fcntl
import os
import pwd
import shutil
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from service.embedded_postgres import settings
from service.embedded_postgres.errors import (
    DataFolderInUseError,
    EmbeddedPostgresUnsupportedError,
)

LOG_BYTES_MAX = 10 * 1024 * 1024
ORPHAN_TIMEOUT_S = 30.0
POLL_S = 0.005
NOT_AS_ROOT = "run the service as an ordinary user, or give it a database URL"
SOCKET_LINK = "socket"
SOCKET_NAME = ".s.PGSQL.5432"
SOCKET_PATH_BYTES_MAX = 107


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFolder:
    """
    The locked ``postgres`` folder.

    ``family_lock`` is inherited by every process that PostgreSQL starts, so whoever
    gets it knows that none of them is left, whatever a ``postmaster.pid`` says.
    """

    home: Path
    family_lock: int
    uid: int
    gid: int

    @classmethod
    def lock(cls, data_dir: Path, held: ExitStack) -> Self:
        """
        Take the folder for this process until ``held`` is closed.

        :raises DataFolderInUseError: if another process, or what it left, has it
        :raises OSError: if the folder can't be used
        """
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        home = data_dir.resolve() / "postgres"
        # PostgreSQL's own user passes through; what is inside is private.
        home.mkdir(mode=0o711, exist_ok=True)
        _take_starter_lock(home, held)
        family_lock = _take_family_lock(home, held)
        uid, gid = _server_account(home / "cluster")
        return cls(home=home, family_lock=family_lock, uid=uid, gid=gid)

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    def make_unfinished_cluster(self) -> Path:
        """Make a folder for initdb, which may be killed half-way like anybody else."""
        unfinished = self.home / "cluster.new"
        if unfinished.exists():
            shutil.rmtree(unfinished)
        unfinished.mkdir(mode=0o700)
        self.give_to_server(unfinished)
        return unfinished

    def finish_cluster(self, unfinished: Path) -> None:
        unfinished.rename(self.cluster)
        os.fsync(self.family_lock)

    def prepare_start(self) -> None:
        if self.cluster.stat().st_uid == 0:
            self.give_to_server(self.cluster)
        _remove_stale_pid_file(self.cluster)
        for name, text in settings.files(as_root=os.geteuid() == 0).items():
            # Not in the cluster, where its user could turn root's pen elsewhere.
            path = self.home / name
            path.write_text(text, encoding="utf-8")
            path.chmod(0o644)

    def give_to_server(self, folder: Path) -> None:
        if os.geteuid() != 0:
            return
        try:
            os.chown(folder, self.uid, self.gid)
            for parent, folders, files in os.walk(folder):
                for name in (*folders, *files):
                    path = Path(parent, name)
                    os.chown(path, self.uid, self.gid, follow_symlinks=False)
        except OSError as error:
            raise EmbeddedPostgresUnsupportedError(
                f"this process may not give {folder} to user {self.uid}, as whom"
                f" PostgreSQL would run: {NOT_AS_ROOT}"
            ) from error

    def make_socket_folder(self, held: ExitStack) -> Path:
        """Make it where its path is short, with a link to find and remove it by."""
        link = self.home / SOCKET_LINK
        _remove_socket_folder(link)
        folder = Path(tempfile.mkdtemp(prefix="agent-runtime-", dir=_short_folder()))
        held.callback(_remove_socket_folder, link)
        link.symlink_to(folder)
        self.give_to_server(folder)
        return folder

    def is_ready(self, pid: int) -> bool:
        """Tell whether PostgreSQL says so, which is cheaper than to connect."""
        try:
            lines = (self.cluster / "postmaster.pid").read_text("utf-8").splitlines()
        except FileNotFoundError:
            return False
        return lines[:1] == [str(pid)] and "ready   " in lines[7:8]

    def open_log(self) -> IO[bytes]:
        self.log.touch(mode=0o600)
        return self.log.open("ab")

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def log_since(self, start: int) -> str:
        with self.log.open("rb") as log:
            log.seek(start)
            return log.read(LOG_BYTES_MAX).decode(errors="replace")

    def bound_log(self) -> None:
        """Move the log aside once it is long."""
        if self.log_size() > LOG_BYTES_MAX:
            # Without room for a copy it is still better to lose the old lines.
            with suppress(OSError):
                shutil.copy(self.log, self.log.with_suffix(".log.1"))
            # The server appends, so it goes on at the new end.
            os.truncate(self.log, 0)


def wait_until(happened: Callable[[], bool], *, timeout_s: float) -> bool:
    deadline = time.monotonic() + timeout_s
    while not happened():
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True


def _take_starter_lock(home: Path, held: ExitStack) -> None:
    lock = os.open(home / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    held.callback(os.close, lock)
    if not _has_locked(lock):
        holder = os.read(lock, 20).decode() or "unknown"
        raise DataFolderInUseError(f"{home.parent} is in use by process {holder}")
    os.ftruncate(lock, 0)
    os.write(lock, str(os.getpid()).encode())


def _take_family_lock(home: Path, held: ExitStack) -> int:
    """Wait for a PostgreSQL whose starter was killed: it is shutting down."""
    lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    held.callback(os.close, lock)
    if not wait_until(lambda: _has_locked(lock), timeout_s=ORPHAN_TIMEOUT_S):
        raise DataFolderInUseError(
            f"{home.parent} is in use by an earlier PostgreSQL that is still ending"
        )
    return lock


def _has_locked(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _server_account(cluster: Path) -> tuple[int, int]:
    """Whoever we are, but for root: who owns the files, or at first a system user."""
    uid = os.geteuid()
    if uid != 0:
        if not cluster.exists() and not _has_account(uid):
            raise EmbeddedPostgresUnsupportedError(
                f"initdb refuses user {uid}, who is not in the password database:"
                " run the service as one who is, or give it a database URL"
            )
        return uid, os.getegid()
    if cluster.exists() and (owner := cluster.stat()).st_uid != 0:
        return owner.st_uid, owner.st_gid
    for name in ("postgres", "nobody"):
        with suppress(KeyError):
            account = pwd.getpwnam(name)
            return account.pw_uid, account.pw_gid
    raise EmbeddedPostgresUnsupportedError(
        "PostgreSQL refuses to run as root and there is no user postgres or nobody:"
        f" {NOT_AS_ROOT}"
    )


def _has_account(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True


def _remove_stale_pid_file(cluster: Path) -> None:
    """
    Remove a ``postmaster.pid`` whose number now belongs to another program.

    PostgreSQL refuses to start then, since it can't tell. With the family lock in
    our hands, all that is left to exclude is a server that somebody ran by hand.
    """
    pid_file = cluster / "postmaster.pid"
    try:
        pid = abs(int(pid_file.read_text("utf-8").split("\n", 1)[0]))
    except FileNotFoundError:
        return
    except ValueError:
        # Cut short when the machine went down, and PostgreSQL refuses that too.
        pid_file.unlink()
        return
    process = Path(f"/proc/{pid}")
    with suppress(OSError):
        if process.joinpath("cwd").samefile(cluster):
            raise DataFolderInUseError(
                f"{cluster} is in use by PostgreSQL {pid}, started by somebody else"
            )
    if process.exists():
        pid_file.unlink()


def _short_folder() -> str:
    """Return the temporary folder, or /tmp when a socket's path would not fit."""
    folder = tempfile.gettempdir()
    longest = Path(folder, "agent-runtime-12345678", SOCKET_NAME)
    if len(os.fsencode(longest)) <= SOCKET_PATH_BYTES_MAX:
        return folder
    return "/tmp"  # noqa: S108 - the folder made in it is private and unpredictable


def _remove_socket_folder(link: Path) -> None:
    """Remove what a link names, but nothing that isn't an empty folder of sockets."""
    with suppress(OSError):
        folder = link.readlink()
        for name in (SOCKET_NAME, f"{SOCKET_NAME}.lock"):
            (folder / name).unlink(missing_ok=True)
        folder.rmdir()
    link.unlink(missing_ok=True)
