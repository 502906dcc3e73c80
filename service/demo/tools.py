"""Run the demo's MCP servers beside the service, on a port that stays the same."""

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from service.demo.access import TOOLS_PORT_FILE

STOP_S: Final = 5.0

logger = logging.getLogger(__name__)


@asynccontextmanager
async def demo_tools(data_dir: Path) -> AsyncIterator[int | None]:
    """Yield the port of the servers, whose process ends with the block.

    It is kept in the data folder, as the connectors' URLs are in the log. None if
    another process has it: without these tools the demo is still useful.
    """
    file = data_dir / TOOLS_PORT_FILE
    kept = int(file.read_text(encoding="ascii")) if file.exists() else 0
    try:
        # Here, so that the port is ours before anything connects to it.
        listener = socket.create_server(("127.0.0.1", kept))
    except OSError as error:
        logger.warning(
            "the demo's tools can't listen on port %d: %s", kept, error.strerror
        )
        yield None
        return
    port: int = listener.getsockname()[1]
    file.write_text(str(port), encoding="ascii")
    with listener:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "service.demo.tool_server"),
            str(listener.fileno()),
            pass_fds=[listener.fileno()],
        )
    try:
        yield port
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()
