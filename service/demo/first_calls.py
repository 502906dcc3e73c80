"""The calls that the demo's agent makes by itself, for the console's first page."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Final

from aiohttp import ClientError, ClientSession

from service.demo.access import Demo
from service.demo.api import DemoError
from service.demo.session import DemoSession
from service.errors import StartError
from service.http.telemetry import requests_not_logged

logger = logging.getLogger(__name__)

# The gateway holds a call that a person is asked about; unless it is set not to.
ASK_AGAIN_S: Final = 2.0


@asynccontextmanager
async def first_calls(data_dir: Path) -> AsyncIterator[None]:
    """Make a call that is allowed, one that is denied, and one that a person is asked.

    The last is made again within the block until a person has decided, as agents do.
    """
    request_id = f"demo-{secrets.token_hex(8)}"
    async with ClientSession(headers={"X-Request-Id": request_id}) as http:
        with requests_not_logged(request_id):
            async with _calling(DemoSession(http, Demo.of(data_dir), "first")):
                yield


@asynccontextmanager
async def _calling(session: DemoSession) -> AsyncIterator[None]:
    try:
        await session.start()
        await session.tools_are_known()
        await session.agent.call("issue-tracker_list_issues")
        await session.agent.call("issue-tracker_delete_issue", number=1)
        await session.record_turn(
            "Which issues are open? Close the first, and order paper.",
            "Two are open. I may not delete any, and asked for leave to file one.",
        )
    except (ClientError, DemoError, StartError) as error:
        logger.warning("the demo's first calls are incomplete: %s", error)
    asking = asyncio.create_task(_ask(session))
    try:
        yield
    finally:
        asking.cancel()
        with suppress(asyncio.CancelledError):
            await asking


async def _ask(session: DemoSession) -> None:
    tool, title = "issue-tracker_create_issue", "Order paper"
    with suppress(ClientError, DemoError):
        answer = await session.agent.call(tool, title=title)
        while answer.is_pending:
            await asyncio.sleep(ASK_AGAIN_S)
            answer = await session.agent.call(tool, title=title)
