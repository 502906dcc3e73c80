"""Every answer is as the document describes it, and its examples are real."""

import os
from collections.abc import AsyncIterator
from importlib import resources as package_resources
from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp.test_utils import TestClient, TestServer

from projections.audit.proofs.signer import CheckpointSigner
from projections.engine.progress import wait_for_position
from service.app import create_app
from service.http.openapi.answers import REFUSALS
from service.http.openapi.document import EXAMPLES, document
from service.open_resources import open_resources
from service.resources import Resources
from tests.integration.openapi.refusals import one_of_each
from tests.support.callers import Caller, Callers
from tests.support.configured import configured
from tests.support.databases import fresh_database
from tests.support.openapi.contract import (
    closed,
    documented,
    faults,
    pointer_to_answer,
)
from tests.support.openapi.exemplified import with_example
from tests.support.operations.catalog import end_things, make_things, where
from tests.support.operations.walk import Walk


@pytest.fixture
async def alone(
    postgres: str, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Caller]:
    """Someone who calls a process without followers, on a database without them.

    It answers reads only.
    """
    with fresh_database(postgres, template) as url:
        async with (
            open_resources(url, tmp_path_factory.mktemp("alone")) as resources,
            TestClient(
                TestServer(create_app(resources, configured(reads_only=True)))
            ) as client,
        ):
            yield await Callers(resources, client).user("alone")


async def test_every_operation_answers_as_described(
    callers: Callers, resources: Resources, alone: Caller, tmp_path: Path
) -> None:
    """With RECORD_EXAMPLES set, its answers become the document's examples."""
    ada = await callers.user("ada", "superuser")
    head = (await resources.log.head()).position
    await wait_for_position(resources.pool, ["merkle_tree"], head, timeout_s=60)
    await CheckpointSigner(resources.pool, tmp_path).sign()
    walk = Walk(ada)
    await make_things(walk)
    await end_things(walk)
    refusals = await one_of_each(callers, ada, alone)

    for name in with_example() - walk.examples.keys():
        pytest.fail(f"call {name} in {where(name)}, as others are")
    assert walk.examples.keys() == with_example()
    assert refusals.keys() == {str(status) for status in REFUSALS}
    examples = {"operations": walk.examples, "refusals": refusals}
    described = closed(document(documented(), examples))
    for operation, reply in walk.replies:
        pointer = pointer_to_answer(described, operation.name, reply.status)
        assert faults(described, pointer, orjson.loads(reply.body)) == []
    if os.environ.get("RECORD_EXAMPLES"):
        _record(examples)


def _record(examples: dict[str, Any]) -> None:
    file = Path(str(package_resources.files("service.http.openapi") / EXAMPLES))
    options = orjson.OPT_INDENT_2 | orjson.OPT_SORT_KEYS | orjson.OPT_APPEND_NEWLINE
    file.write_bytes(orjson.dumps(examples, option=options))
