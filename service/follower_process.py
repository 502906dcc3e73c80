"""The follower process: a child that runs the followers and the relay.

It gets its settings as a line of JSON on standard input, which this process keeps
open: the child stops at end-of-file, so it ends with this process however that ends,
on every system. When it is ready, it writes its address to standard output.
"""

import asyncio
import logging
import os
import re
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final, Literal

from aiohttp import ClientError, ClientSession, ClientTimeout
from prometheus_client import Gauge
from pydantic import BaseModel

from service.errors import ConfigError
from service.settings import ENVIRONMENT_PREFIX
from service.tasks import background_task, end_tasks

# -P: a folder "service" in the current folder is not this package.
COMMAND: Final = (sys.executable, "-P", "-m", "service.cli.follower_process")
READY: Final = re.compile(rb"ready at (http://[^\s,]+)")
START_TIMEOUT_S: Final = 30.0
STOP_TIMEOUT_S: Final = 20.0
RESTART_MIN_S: Final = 0.5
RESTART_MAX_S: Final = 30.0
METRICS_TIMEOUT: Final = ClientTimeout(total=5.0)
EXIT_CONFIG: Final = 78

State = Literal["starting", "running", "ended"]

UP = Gauge(
    "agent_runtime_follower_process_up",
    "1 while the follower process that this process started is ready and answers.",
    # A series appears only where a child is started, so that 0 is always an alarm.
    ["child"],
)

logger = logging.getLogger(__name__)


class FollowerProcess:
    """Starts the child, and starts it again when it has ended or couldn't start."""

    def __init__(self, config: BaseModel) -> None:
        self.state: State = "starting"
        UP.labels("followers").set(0)
        self._config = config
        self._child: Process | None = None
        self._url = ""
        self._has_changed = asyncio.Event()

    async def wait_until_ready(self) -> None:
        """Wait for the first start, but not for long: the API works without it.

        :raises ConfigError: the child refuses its settings; it has said why
        """
        with suppress(TimeoutError):
            await asyncio.wait_for(self._has_changed.wait(), START_TIMEOUT_S)
        if self.state == "starting":
            logger.warning("the follower process is still starting")
        if self._child is not None and self._child.returncode == EXIT_CONFIG:
            raise ConfigError("the follower process refuses its settings, see above")

    async def metrics(self) -> str:
        """Return the child's metrics in the text format; empty without an answer."""
        if self.state != "running":
            return ""
        try:
            async with (
                ClientSession(timeout=METRICS_TIMEOUT) as session,
                session.get(f"{self._url}/metrics") as response,
            ):
                text = await response.text()
                UP.labels("followers").set(self.state == "running")
                return text
        except (ClientError, TimeoutError) as error:
            # It may hang: nothing else would tell, as its own metrics are missing.
            UP.labels("followers").set(0)
            logger.warning(
                "the metrics of the follower process are missing",
                extra={"reason": type(error).__name__},
            )
            return ""

    async def keep_running(self) -> None:
        """Run the child; restart it at its end, after at most ``RESTART_MAX_S``."""
        pause_s = RESTART_MIN_S
        while True:
            if await self._run():
                pause_s = RESTART_MIN_S
            logger.error(
                "the follower process has ended; it is started again",
                extra={
                    "status": None if self._child is None else self._child.returncode,
                    "after_s": pause_s,
                },
            )
            await asyncio.sleep(pause_s)
            pause_s = min(2 * pause_s, RESTART_MAX_S)

    async def _run(self) -> bool:
        """Run the child to its end; tell whether it became ready."""
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(ENVIRONMENT_PREFIX)
        }
        self._child = None
        try:
            self._child = child = await asyncio.create_subprocess_exec(
                *COMMAND,
                stdin=PIPE,
                stdout=PIPE,
                env=environment,
                # Ctrl-C is for this process, which stops the other one at last.
                start_new_session=True,
            )
        except OSError as error:
            # Too many open files or processes, or no memory: for a while, perhaps.
            logger.error(  # noqa: TRY400 # the stack says nothing more
                "the follower process can't be started",
                extra={"reason": error.strerror},
            )
            self._change("ended")
            return False
        assert child.stdin is not None
        assert child.stdout is not None
        child.stdin.write(self._config.model_dump_json().encode() + b"\n")
        became_ready = False
        async for line in child.stdout:
            if ready := READY.search(line):
                self._url = ready[1].decode()
                became_ready = True
                self._change("running")
        await child.wait()
        self._change("ended")
        return became_ready

    def _change(self, state: State) -> None:
        self.state = state
        UP.labels("followers").set(state == "running")
        self._has_changed.set()

    async def stop(self) -> None:
        """Let the child stop, for a while, and wait until it has ended."""
        child = self._child
        if child is None or child.returncode is not None:
            return
        assert child.stdin is not None
        child.stdin.close()
        try:
            await asyncio.wait_for(child.wait(), STOP_TIMEOUT_S)
        except TimeoutError:
            logger.warning("the follower process doesn't stop: it is killed")
            child.kill()
            await child.wait()


@asynccontextmanager
async def run_follower_process(config: BaseModel) -> AsyncIterator[FollowerProcess]:
    """Run the child that has these settings until the block ends."""
    process = FollowerProcess(config)
    task = background_task(process.keep_running, name="follower process")
    try:
        yield process
    finally:
        await end_tasks(task)
        await process.stop()
