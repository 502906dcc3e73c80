"""The ``postgres`` folder in the data folder, and the files in it."""

import os
import shutil
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Self

from service.embedded_postgres import pid_file, settings
from service.embedded_postgres.account import change_owner, server_account
from service.embedded_postgres.binaries import MAJOR_VERSION
from service.embedded_postgres.errors import UnusableDataFolderError
from service.embedded_postgres.locks import lock_for_server, lock_for_service
from service.embedded_postgres.sockets import make_socket_folder, remove_socket_folder

LOG_BYTES_MAX = 10 * 1024 * 1024
SOCKET_LINK = "socket"
# PostgreSQL's own limit is 1023 bytes, with the names of files in the cluster.
HOME_BYTES_MAX = 940


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerFolder:
    """
    The locked folder.

    ``server_lock`` is inherited by every process of PostgreSQL, so a process that
    obtains it knows that none of them is left, whatever a ``postmaster.pid`` says.
    """

    home: Path
    server_lock: int
    uid: int
    gid: int

    @classmethod
    def lock(cls, data_dir: Path, cleanup: ExitStack) -> Self:
        """
        Lock the folder for this process until ``cleanup`` is closed.

        :raises DataFolderInUseError: if another process uses it
        :raises UnusableDataFolderError: if it can't be used by this version
        :raises OSError: if the folder can't be used
        """
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        home = data_dir.resolve() / "postgres"
        if (length := len(os.fsencode(home))) > HOME_BYTES_MAX:
            raise UnusableDataFolderError(
                f"the path of {home} is too long for PostgreSQL: it has {length} bytes,"
                f" and {HOME_BYTES_MAX} are possible; choose another data folder"
            )
        # PostgreSQL's own user passes through; the content is private.
        home.mkdir(mode=0o711, exist_ok=True)
        lock_for_service(home, cleanup)
        server_lock = lock_for_server(home, cleanup)
        _require_version(home / "cluster")
        uid, gid = server_account(home / "cluster")
        return cls(home=home, server_lock=server_lock, uid=uid, gid=gid)

    @property
    def cluster(self) -> Path:
        return self.home / "cluster"

    @property
    def log(self) -> Path:
        return self.home / "postgres.log"

    def make_unfinished_cluster(self) -> Path:
        """Make a folder for initdb; renamed at the end, so a kill leaves no half."""
        unfinished = self.home / "cluster.new"
        if unfinished.exists():
            shutil.rmtree(unfinished)
        unfinished.mkdir(mode=0o700)
        change_owner(unfinished, self.uid, self.gid)
        return unfinished

    def finish_cluster(self, unfinished: Path) -> None:
        unfinished.rename(self.cluster)
        os.fsync(self.server_lock)

    def prepare_start(self) -> None:
        if self.cluster.stat().st_uid == 0:
            change_owner(self.cluster, self.uid, self.gid)
        pid_file.remove_if_stale(self.cluster, self.uid)
        for name, text in settings.files(as_root=os.geteuid() == 0).items():
            # Not in the cluster, whose owner could have root write elsewhere by links.
            path = self.home / name
            path.write_text(text, encoding="utf-8")
            path.chmod(0o644)

    def make_socket_folder(self, cleanup: ExitStack) -> Path:
        """Make a folder with a short path, and a link in ``home`` that points to it."""
        link = self.home / SOCKET_LINK
        remove_socket_folder(link)
        folder = make_socket_folder()
        cleanup.callback(remove_socket_folder, link)
        link.symlink_to(folder)
        change_owner(folder, self.uid, self.gid)
        return folder

    def is_ready(self, pid: int) -> bool:
        return pid_file.says_ready(self.cluster, pid)

    def open_log(self) -> IO[bytes]:
        self.log.touch(mode=0o600)
        return self.log.open("ab")

    def log_size(self) -> int:
        return self.log.stat().st_size if self.log.exists() else 0

    def log_since(self, start: int) -> str:
        with self.log.open("rb") as log:
            log.seek(start)
            return log.read(LOG_BYTES_MAX).decode(errors="replace")

    def rotate_log(self) -> None:
        """Copy the log aside and empty it, if it is long."""
        if self.log_size() > LOG_BYTES_MAX:
            # On a full disk it is better to lose the old lines than to grow.
            with suppress(OSError):
                shutil.copy(self.log, self.log.with_suffix(".log.1"))
            # The server appends, so it continues at the new end.
            os.truncate(self.log, 0)


def _require_version(cluster: Path) -> None:
    """Require that a cluster is of the major version of the programs.

    :raises UnusableDataFolderError: it is of another one
    """
    try:
        text = (cluster / "PG_VERSION").read_text("ascii").strip()
        found = float(text)
    except (FileNotFoundError, ValueError):
        # No cluster yet, or a damaged one, of which PostgreSQL says more.
        return
    if found == MAJOR_VERSION:
        return
    problem = (
        f"the database in {cluster.parent.parent} was made by PostgreSQL {text}, and"
        f" this version of agent-runtime runs PostgreSQL {MAJOR_VERSION}: "
    )
    if found > MAJOR_VERSION:
        raise UnusableDataFolderError(
            problem + "use the version of agent-runtime that made it, or a later one"
        )
    raise UnusableDataFolderError(
        problem + "run 'agent-runtime backup' with the version of agent-runtime that"
        " made it, then 'agent-runtime restore' with this one, into a new data folder"
        " with the same keys.json"
    )
