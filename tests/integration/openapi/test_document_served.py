"""The document as it is served, by every process."""

import subprocess
import sys

import orjson
from aiohttp.test_utils import TestClient

from service.http.envelope import to_json
from tests.support.openapi.contract import current_document

RENDER = (
    "import sys; from tests.support.openapi.contract import current_document; "
    "from service.http.envelope import to_json; "
    "sys.stdout.buffer.write(to_json(current_document()))"
)


def test_it_is_the_same_in_every_process() -> None:
    other = subprocess.run(
        [sys.executable, "-c", RENDER],
        env={"PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
    )

    assert other.stdout == to_json(current_document())


async def test_it_is_served_once_and_then_not_again(client: TestClient) -> None:
    first = await client.get("/openapi.json")
    again = await client.get(
        "/openapi.json", headers={"If-None-Match": first.headers["ETag"]}
    )

    assert (first.status, first.content_type) == (200, "application/json")
    assert orjson.loads(await first.read()) == orjson.loads(to_json(current_document()))
    assert (again.status, await again.read()) == (304, b"")
    assert again.headers["ETag"] == first.headers["ETag"]
