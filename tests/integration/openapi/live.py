"""The whole service on a loopback port, beside tests that don't use asyncio."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp.test_utils import TestClient, TestServer

from projections.audit.proofs.signer import CheckpointSigner
from projections.catalog import run_followers
from projections.engine.progress import wait_for_position
from service.app import create_app
from service.http.authentication import THROTTLE
from service.http.rate_limit import Buckets, RateLimit
from service.http.throttle import Throttle
from service.open_resources import open_resources
from tests.support.callers import Callers
from tests.support.operations.catalog import make_things
from tests.support.operations.walk import Walk
from tests.support.security.kinds import one_of_each_kind

# Guessing tokens is what this test does for a living.
PATIENT = RateLimit(burst=1_000_000, interval_s=1e-6)


@dataclass(frozen=True, slots=True)
class Live:
    """Where the service is, the tokens of its callers, and what is there."""

    base_url: str
    tokens: dict[str, str]
    things: dict[str, Any]


@contextmanager
def live_service(database_url: str, data_dir: Path) -> Iterator[Live]:
    ready: asyncio.Future[Live]
    loop = asyncio.new_event_loop()
    ready = loop.create_future()
    stop = asyncio.Event()
    thread = threading.Thread(
        target=loop.run_until_complete,
        args=(_serve(database_url, data_dir, ready, stop),),
    )
    thread.start()
    try:
        yield asyncio.run_coroutine_threadsafe(_wait(ready), loop).result(300)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


async def _wait(ready: asyncio.Future[Live]) -> Live:
    return await ready


async def _serve(
    database_url: str, data_dir: Path, ready: asyncio.Future[Live], stop: asyncio.Event
) -> None:
    try:
        async with open_resources(database_url, data_dir) as resources:
            app = create_app(resources)
            app[THROTTLE] = Throttle(refused_tokens=Buckets(PATIENT))
            async with (
                run_followers(resources.log, resources.database_url) as followers,
                TestClient(TestServer(app)) as client,
            ):
                names = [follower.name for follower in followers]
                await wait_for_position(resources.pool, names, 0, timeout_s=60)
                callers = Callers(resources, client)
                root = await callers.user("root", "superuser")
                head = (await resources.log.head()).position
                await wait_for_position(
                    resources.pool, ["merkle_tree"], head, timeout_s=60
                )
                await CheckpointSigner(resources.pool, data_dir).sign()
                ids = await make_things(Walk(root))
                kinds = await one_of_each_kind(callers, root, ids["agent_id"])
                tokens = {name: str(each.token) for name, each in kinds.items()}
                tokens["superuser"] = str(root.token)
                base_url = str(client.make_url("/")).rstrip("/")
                ready.set_result(Live(base_url, tokens, ids))
                await stop.wait()
    except BaseException as error:
        if not ready.done():
            ready.set_exception(error)
        raise
