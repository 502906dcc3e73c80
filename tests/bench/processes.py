"""The processes that are measured, each on a port of its own."""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import psutil

START_TIMEOUT_S = 60.0
STOP_TIMEOUT_S = 30.0


class StartError(Exception):
    """A process ended, or didn't answer in time."""


@dataclass(frozen=True, slots=True)
class Server:
    url: str
    pid: int

    def cpu_s(self) -> float:
        """Return the CPU time that it has used so far."""
        used = psutil.Process(self.pid).cpu_times()
        return float(used.user + used.system)

    def memory_mb(self) -> float:
        return float(psutil.Process(self.pid).memory_info().rss) / 1024**2


@contextmanager
def service(
    database_url: str, data_dir: Path, *, only: str | None = "api"
) -> Iterator[Server]:
    """Run the service as its command line does; its log lines go to a file."""
    port = _free_port()
    command = [sys.executable, "-m", "service", "serve", "--port", str(port)]
    command += ["--database-url", database_url, "--data-dir", str(data_dir)]
    if only is not None:
        command += ["--only", only]
    with _running(command, port, data_dir / f"service-{port}.log") as server:
        yield server


@contextmanager
def bare(answers: Path) -> Iterator[Server]:
    """Run the yardstick; see bare.py."""
    port = _free_port()
    command = [sys.executable, "-m", "tests.bench.bare", str(answers), str(port)]
    with _running(command, port, answers.with_suffix(".log")) as server:
        yield server


@contextmanager
def page(database_url: str, folder: Path) -> Iterator[Server]:
    """Run the yardstick of a list; see page.py."""
    port = _free_port()
    command = [sys.executable, "-m", "tests.bench.page", database_url, str(port)]
    with _running(command, port, folder / "page.log") as server:
        yield server


@contextmanager
def followers(database_url: str, data_dir: Path) -> Iterator[None]:
    """Follow the log in a process of its own."""
    with service(database_url, data_dir, only="followers"):
        yield


@contextmanager
def _running(command: list[str], port: int, log: Path) -> Iterator[Server]:
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
        try:
            _wait_for(process, port, log)
            yield Server(f"http://127.0.0.1:{port}", process.pid)
        finally:
            process.terminate()
            process.wait(STOP_TIMEOUT_S)


def _wait_for(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    give_up = time.monotonic() + START_TIMEOUT_S
    while time.monotonic() < give_up and process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise StartError(log.read_text(errors="replace")[-2000:])


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
