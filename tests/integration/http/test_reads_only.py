"""A process that only reads refuses commands."""

from aiohttp.test_utils import TestClient

from projections.catalog import run_followers
from service.app import create_app
from service.resources import Resources
from tests.support.callers import Callers
from tests.support.configured import configured
from tests.support.http_server import Server
from tests.support.waiting import until


async def test_it_answers_reads_and_refers_commands_to_another_process(
    resources: Resources,
) -> None:
    async with (
        run_followers(resources.log, resources.database_url),
        TestClient(
            Server(create_app(resources, configured(reads_only=True)))
        ) as client,
    ):
        ann = await Callers(resources, client).user("ann")
        await until(lambda: is_built(client, ann.token or ""))

        refused = await ann.post("/api/mcp/connectors", {"name": "x"})
        read = await ann.get("/api/users/me")

    assert (refused.status, refused.code) == (421, "reads_only")
    assert read.status == 200


async def is_built(client: TestClient, token: str) -> bool:
    headers = {"Authorization": f"Bearer {token}"}
    async with client.get("/api/users/me", headers=headers) as response:
        return response.status == 200
