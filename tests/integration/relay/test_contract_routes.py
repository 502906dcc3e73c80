"""The documents of the contract are served, the same by every process."""

import subprocess
import sys

import pytest
from aiohttp.test_utils import TestClient

from projections import event_contract as contract
from projections.event_contract import (
    documents,
)
from tests.support.project import ROOT

PRICE = "model_pricing.price_set.v2"


def test_the_documents_are_the_same_in_every_process() -> None:
    render = (
        "import sys; from pathlib import Path;"
        "from projections import event_contract as made;"
        "path = made.FOLDER / made.ASYNCAPI;"
        "sys.stdout.buffer.write(made.documents(Path())[path])"
    )
    other = subprocess.run(
        [sys.executable, "-c", render],
        env={"PYTHONHASHSEED": "7"},
        capture_output=True,
        check=True,
        cwd=ROOT,
    )
    assert other.stdout == documents(ROOT)[contract.FOLDER / contract.ASYNCAPI]


async def test_the_documents_are_served_to_anyone(client: TestClient) -> None:
    for path, file in {
        "/asyncapi.json": "asyncapi.json",
        f"/schemas/events/{PRICE}": f"schemas/{PRICE}.json",
    }.items():
        response = await client.get(path)
        assert response.status == 200
        assert response.content_type == "application/json"
        assert await response.read() == (ROOT / contract.FOLDER / file).read_bytes()
        again = await client.get(
            path, headers={"If-None-Match": response.headers["ETag"]}
        )
        assert again.status == 304


@pytest.mark.parametrize("name", ["agent.vanished.v1", "agent.registered.v2"])
async def test_an_unknown_schema_is_404(client: TestClient, name: str) -> None:
    response = await client.get(f"/schemas/events/{name}")
    assert response.status == 404
