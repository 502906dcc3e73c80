"""Run the demo's MCP server beside the service, on a port that stays the same."""

import asyncio
import logging
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

PORT_FILE: Final = "demo-tools-port"
START_S: Final = 30.0
STEP_S: Final = 0.1
STOP_S: Final = 5.0

logger = logging.getLogger(__name__)


@asynccontextmanager
async def demo_tools(data_dir: Path) -> AsyncIterator[str]:
    """Yield the URL of the server, whose process ends with the block.

    Its port is kept in the data folder, as the connector's URL is in the log.
    """
    port = _port(data_dir / PORT_FILE)
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "service.demo.tool_server", str(port)
    )
    try:
        await _wait_until_listening(port)
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(STOP_S):
                await process.wait()
        except TimeoutError:
            process.kill()


async def _wait_until_listening(port: int) -> None:
    """Wait for the server, but not for long: without it the demo is still useful."""
    with suppress(TimeoutError):
        async with asyncio.timeout(START_S):
            while True:
                try:
                    _, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    await asyncio.sleep(STEP_S)
                else:
                    writer.close()
                    return
    logger.warning("the demo's tools have not started")


def _port(file: Path) -> int:
    if file.exists():
        return int(file.read_text(encoding="ascii"))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    file.write_text(str(port), encoding="ascii")
    return port
