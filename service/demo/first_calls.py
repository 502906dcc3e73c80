"""The calls that the demo's agent makes by itself, for the console's first page."""

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from aiohttp import ClientError, ClientSession

from service.demo.access import Demo
from service.demo.api import DemoError
from service.demo.session import DemoSession
from service.errors import StartError
from service.http.telemetry import log_no_requests_of
from service.tasks import end_tasks

logger = logging.getLogger(__name__)

# The gateway holds a call that a person is asked about; unless it is set not to.
ASK_AGAIN_S: Final = 2.0


@asynccontextmanager
async def first_calls(data_dir: Path) -> AsyncIterator[None]:
    """Make a call that is allowed, one that is denied, and one that a person is asked.

    They are made while the block runs; the last one again until a person has decided,
    as agents do.
    """
    task = asyncio.create_task(_make(data_dir), name="the demo's first calls")
    try:
        yield
    finally:
        await end_tasks(task)


async def _make(data_dir: Path) -> None:
    request_id = f"demo-{secrets.token_hex(8)}"
    log_no_requests_of(request_id)
    async with ClientSession(headers={"X-Request-Id": request_id}) as http:
        try:
            await _call(DemoSession(http, Demo.of(data_dir), "first"))
        except (ClientError, DemoError, StartError, TimeoutError) as error:
            logger.warning("the demo's first calls are incomplete: %s", error)


async def _call(session: DemoSession) -> None:
    await session.start()
    await session.tools_are_known()
    agent = session.agent
    await agent.call("issue-tracker_list_issues")
    await agent.call("issue-tracker_delete_issue", number=1)
    await session.record_turn(
        "Which issues are open? Close the first, and order paper.",
        "Two are open. I may not delete any, and asked for leave to file one.",
    )
    tool, title = "issue-tracker_create_issue", "Order paper"
    answer = await agent.call(tool, title=title)
    while answer.is_pending:
        await asyncio.sleep(ASK_AGAIN_S)
        answer = await agent.call(tool, title=title)
