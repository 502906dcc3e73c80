"""A child process and its log."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil

STOP_TIMEOUT_S = 60.0
LOG_TAIL_CHARS = 4000


class ProcessError(Exception):
    """A process didn't get ready; quotes the end of its log."""


class Process:
    """A child process, which may be started again; its output goes to one file.

    Without a file, it goes where ours goes. The kernel kills it when the thread that
    started it ends, even by SIGKILL, where no fixture could. ``environment`` is all of
    its environment, by default ours.
    """

    def __init__(
        self,
        command: Sequence[str | Path],
        log: Path | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.log = log
        self.popen: subprocess.Popen[str] | None = None
        self._command = command
        self._environment = environment
        self._folder = folder

    @property
    def pid(self) -> int:
        assert self.popen is not None
        return self.popen.pid

    @property
    def is_running(self) -> bool:
        return self.popen is not None and self.popen.poll() is None

    def start(self, *, stdout: int | None = None) -> None:
        with ExitStack() as stack:
            log = stack.enter_context(self.log.open("ab")) if self.log else None
            self.popen = subprocess.Popen(
                [*ending_with_parent(), *self._command],
                stdout=stdout or log,
                stderr=log,
                text=True,
                cwd=self._folder,
                env=self._environment,
            )

    def send(self, number: signal.Signals) -> None:
        if self.popen is not None:
            self.popen.send_signal(number)

    def pause(self) -> None:
        """Freeze it: its sockets stay open and nothing answers."""
        self.send(signal.SIGSTOP)

    def resume(self) -> None:
        self.send(signal.SIGCONT)

    def kill(self) -> None:
        self.send(signal.SIGKILL)
        self.wait()

    def stop(self, *, timeout_s: float = STOP_TIMEOUT_S) -> int:
        """End it as an operator would, or kill it; return its exit status."""
        self.resume()
        self.send(signal.SIGTERM)
        try:
            return self.wait(timeout_s=timeout_s)
        except subprocess.TimeoutExpired:
            self.kill()
            return self.wait()

    def wait(self, *, timeout_s: float | None = None) -> int:
        if self.popen is None:
            return 0
        status = self.popen.wait(timeout_s)
        if self.popen.stdout is not None:
            self.popen.stdout.close()
        return status

    def log_tail(self) -> str:
        if self.log is None or not self.log.exists():
            return ""
        return self.log.read_text(errors="replace")[-LOG_TAIL_CHARS:]

    def memory_mb(self) -> float:
        return float(psutil.Process(self.pid).memory_info().rss) / 1024**2


def ending_with_parent() -> list[str]:
    """Return the words before a command that let the kernel kill it with us."""
    setpriv = shutil.which("setpriv") if os.name == "posix" else None
    return [setpriv, "--pdeathsig", "KILL"] if setpriv else []


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


@contextmanager
def refusing_port() -> Iterator[int]:
    """A port on which nobody listens, and which no other process can take meanwhile."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]
