"""PostgreSQL's ``postmaster.pid``: is it ready, and has the file become stale."""

from pathlib import Path

import psutil

from service.embedded_postgres.errors import DataFolderInUseError


def says_ready(cluster: Path, pid: int) -> bool:
    """Tell whether the server with that id has written that it takes connections."""
    try:
        lines = _pid_file(cluster).read_text("utf-8").splitlines()
    except FileNotFoundError:
        return False
    return lines[:1] == [str(pid)] and "ready   " in lines[7:8]


def remove_if_stale(cluster: Path, server_uid: int) -> None:
    """
    Remove the file if its process id now belongs to another program.

    PostgreSQL would refuse to start, since it can't tell. The caller holds the lock
    that our own servers inherit, so only one that was started by hand can be running.

    :raises DataFolderInUseError: if there is one, or if that can't be excluded
    """
    try:
        pid = abs(int(_pid_file(cluster).read_text("utf-8").split("\n", 1)[0]))
    except FileNotFoundError:
        return
    except ValueError:
        # Cut short when the machine went down; PostgreSQL would refuse that, too.
        _pid_file(cluster).unlink()
        return
    try:
        process = psutil.Process(pid)
        # PostgreSQL runs only as the owner of its files.
        if process.uids().effective == server_uid:
            _check_is_no_server(process, cluster)
    except psutil.ZombieProcess:
        # A server that was killed, and whose parent hasn't collected its exit status.
        pass
    except psutil.NoSuchProcess:
        return
    _pid_file(cluster).unlink()


def _check_is_no_server(process: psutil.Process, cluster: Path) -> None:
    """Raise DataFolderInUseError if the process works in the cluster's folder."""
    try:
        cwd = Path(process.cwd())
    except psutil.AccessDenied:
        raise DataFolderInUseError(
            f"{cluster} may be in use by process {process.pid}: stop that if it is a"
            f" PostgreSQL, else remove {_pid_file(cluster)}"
        ) from None
    if cwd.exists() and cwd.samefile(cluster):
        raise DataFolderInUseError(
            f"{cluster} is in use by PostgreSQL, process {process.pid}, which this"
            " service didn't start: stop it first"
        )


def _pid_file(cluster: Path) -> Path:
    return cluster / "postmaster.pid"
