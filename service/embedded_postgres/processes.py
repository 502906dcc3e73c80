"""Start and stop PostgreSQL's programs, so that none outlives this process."""

import ctypes
import enum
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import IO

STOP_TIMEOUT_S = 30.0
ESCALATION_TIMEOUT_S = 5.0
POLL_S = 0.005

# Nothing of the service's environment (keys, PG*, LANG) reaches PostgreSQL.
ENVIRONMENT = {"LC_ALL": "C", "TZ": "UTC", "PATH": "/usr/bin:/bin"}


class Launcher(enum.Enum):
    """Makes a program end when this process ends, however it ends."""

    # The kernel signals the program (PR_SET_PDEATHSIG).
    PRCTL = "launch_with_prctl.py"
    # A process beside the program watches a pipe, and signals it at end-of-file.
    WATCHER = "launch_with_watcher.py"

    @property
    def script(self) -> str:
        return str(Path(__file__).with_name(self.value))


def default_launcher() -> Launcher:
    """Return the kernel's way where there is one: it needs no process of its own."""
    return Launcher.PRCTL if hasattr(ctypes.CDLL(None), "prctl") else Launcher.WATCHER


def launch(
    launcher: Launcher,
    command: Sequence[str],
    *,
    uid: int,
    gid: int,
    needed: Sequence[Path],
    inherited: int,
    log: IO[bytes],
) -> "subprocess.Popen[bytes]":
    """
    Run a program as a user, as a child of this process that ends when this one does.

    ``needed`` are the folders which that user must be able to enter, and
    ``inherited`` is an open file that the program and its children keep open.
    """
    launch_arguments = [uid, gid, os.getpid(), *needed]
    return subprocess.Popen(  # noqa: S603 - a program of the wheel, no user's input
        [
            *(sys.executable, "-I", "-S", launcher.script),
            *(str(argument) for argument in launch_arguments),
            *("--", *command),
        ],
        # Only this process holds the pipe's write end, and it writes nothing.
        stdin=subprocess.PIPE if launcher is Launcher.WATCHER else subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=log,
        pass_fds=[inherited],
        env=ENVIRONMENT,
        cwd="/",
        # Ctrl-C is for the service, which still needs its database to drain.
        start_new_session=True,
    )


def end(process: "subprocess.Popen[bytes]", *, timeout_s: float) -> None:
    """
    End PostgreSQL, or initdb, if it still runs.

    First by a fast shutdown; after ``timeout_s`` by an immediate one, then by SIGKILL.
    """
    for request, request_timeout_s in (
        (signal.SIGINT, timeout_s),
        (signal.SIGQUIT, ESCALATION_TIMEOUT_S),
        (signal.SIGKILL, ESCALATION_TIMEOUT_S),
    ):
        if process.poll() is not None:
            break
        process.send_signal(request)
        wait_until(lambda: process.poll() is not None, timeout_s=request_timeout_s)
    if process.stdin is not None:
        process.stdin.close()


def wait_until(condition: Callable[[], bool], *, timeout_s: float) -> bool:
    """Return True as soon as the condition holds, or False after the timeout."""
    give_up = time.monotonic() + timeout_s
    while not condition():
        if time.monotonic() > give_up:
            return False
        time.sleep(POLL_S)
    return True
