"""One process of the service, to be killed, paused and started again."""

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.support.harness.http_connection import (
    HttpConnection,
    LostError,
    NotSentError,
)
from tests.support.harness.process import Process, free_ports
from tests.support.harness.service import AGENT_RUNTIME, own_environment
from tests.support.waiting import until


class Program(Process):
    """Keeps its port over restarts.

    ``bug`` runs it with a fault of its own; see known_bugs.py.
    """

    def __init__(
        self,
        name: str,
        log: Path,
        options: Sequence[str],
        *,
        bug: str | None = None,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.name = name
        (self.port,) = free_ports(1)
        program = AGENT_RUNTIME
        if bug is not None:
            program = (
                sys.executable,
                "-m",
                "tests.instruments.faults.buggy_serve",
                bug,
            )
        super().__init__(
            [*program, "serve", "--port", str(self.port), *options],
            log,
            environment=own_environment(settings),
        )

    async def ready(self, *, timeout_s: float) -> float:
        """Wait until /readyz says 200; return the seconds it took.

        :raises TimeoutError: it doesn't in time
        """
        started = time.monotonic()
        connection = HttpConnection(self.port)
        try:
            await until(lambda: _answers(connection), timeout_s=timeout_s)
        except TimeoutError:
            raise TimeoutError(f"{self.name} isn't ready: {self.log_tail()}") from None
        finally:
            connection.close()
        return time.monotonic() - started


async def _answers(connection: HttpConnection) -> bool:
    try:
        reply = await connection.request("GET", "/readyz", {}, timeout_s=3)
    except (NotSentError, LostError):
        return False
    return reply.status == 200
