"""One process of the service, to be killed, paused and started again."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.faults.line import Line, LostError, NotSentError
from tests.kafka.broker import dying_with_us, free_ports

READY_STEP_S = 0.05


class Program:
    """Keeps its port over restarts; its output goes to one file.

    ``bug`` runs it with a fault of its own; see known_bugs.py.
    """

    def __init__(
        self,
        name: str,
        log: Path,
        options: Sequence[str],
        *,
        bug: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        (self.port,) = free_ports(1)
        self._log = log
        module = ["service"] if bug is None else ["tests.faults.buggy_serve", bug]
        self._command = [sys.executable, "-m", *module, "serve", *options]
        self._command += ["--port", str(self.port)]
        self._environment = {**os.environ, **(environment or {})}
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                [*dying_with_us(), *self._command],
                stdout=log,
                stderr=log,
                env=self._environment,
            )

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def pause(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)

    def resume(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    async def stop(self, *, timeout_s: float = 45) -> int:
        """End it as an operator would, and return its exit status."""
        assert self._process is not None
        self._process.terminate()
        async with asyncio.timeout(timeout_s):
            while self._process.poll() is None:  # noqa: ASYNC110 # nobody rings
                await asyncio.sleep(0.02)
        return self._process.returncode

    async def ready(self, *, timeout_s: float) -> float:
        """Wait until /readyz says 200; return the seconds it took.

        :raises TimeoutError: it doesn't in time
        """
        started = time.monotonic()
        line = Line(self.port)
        try:
            async with asyncio.timeout(timeout_s):
                while not await self._answers(line):  # noqa: ASYNC110 # asks another process
                    await asyncio.sleep(READY_STEP_S)
        except TimeoutError:
            raise TimeoutError(
                f"{self.name} isn't ready: {self.last_words()}"
            ) from None
        finally:
            line.close()
        return time.monotonic() - started

    async def _answers(self, line: Line) -> bool:
        try:
            reply = await line.ask("GET", "/readyz", {}, timeout_s=3)
        except (NotSentError, LostError):
            return False
        return reply.status == 200

    def last_words(self) -> str:
        text = self._log.read_text(errors="replace") if self._log.exists() else ""
        return text[-1500:]
