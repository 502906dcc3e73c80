"""The bytes of the database, and the room on its disk, as metrics."""

from pathlib import Path
from urllib.request import urlopen

import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

from projections.health.database_size import BYTES, measure, measuring_database_size
from service.resources import Resources
from tests.support.harness.service import Server, running, serving
from tests.support.metrics import value_of
from tests.support.waiting import until

FREE = "agent_runtime_disk_free_bytes"
SIZE = "agent_runtime_disk_size_bytes"
DATABASE = "agent_runtime_database_bytes"
DISK = {"disk": "postgres"}
FOLLOWERS = {"process": "followers"}
# Larger than what another process of PostgreSQL may add or free meanwhile.
GROWTH = """
    CREATE TABLE public.growth AS
    SELECT repeat(md5(n::text), 100) FROM generate_series(1, 20000) n
"""
GROWN_BYTES = 1_000_000


async def test_the_database_is_measured_with_what_it_has_grown_by(
    resources: Resources, database_url: str
) -> None:
    await measure(resources.pool)
    before = value_of(BYTES)
    async with await psycopg.AsyncConnection.connect(
        database_url, autocommit=True
    ) as owner:
        await owner.execute(GROWTH)
    await measure(resources.pool)

    assert value_of(BYTES) > before + GROWN_BYTES


async def test_it_is_measured_at_once_where_followers_run(resources: Resources) -> None:
    BYTES.set(0)
    async with measuring_database_size(resources.pool):
        assert await until(lambda: value_of(BYTES) > 0)


@pytest.mark.thorough
async def test_the_disk_is_reported_once_by_the_process_that_runs_postgresql(
    tmp_path: Path,
) -> None:
    with running(serving("--data-dir", str(tmp_path), log=tmp_path / "log")) as server:
        await until(lambda: is_measured(server))
        found = metrics(server)

    assert [labels for labels, _ in found[FREE]] == [DISK]
    assert [labels for labels, _ in found[SIZE]] == [DISK]
    assert 0 < found[FREE][0][1] < found[SIZE][0][1]


def is_measured(server: Server) -> bool:
    sizes = metrics(server)[DATABASE]
    return any(size > 0 for labels, size in sizes if labels == FOLLOWERS)


@pytest.mark.thorough
async def test_the_disk_of_an_external_postgresql_is_not_known(
    tmp_path: Path, database_url: str
) -> None:
    where = ("--database-url", database_url, "--data-dir", str(tmp_path))
    with running(serving(*where, log=tmp_path / "log")) as server:
        found = metrics(server)

    assert DATABASE in found
    assert found.keys().isdisjoint({FREE, SIZE})


def metrics(server: Server) -> dict[str, list[tuple[dict[str, str], float]]]:
    with urlopen(f"{server.url}/metrics") as reply:  # noqa: S310
        families = text_string_to_metric_families(reply.read().decode())
    found: dict[str, list[tuple[dict[str, str], float]]] = {}
    for sample in (sample for family in families for sample in family.samples):
        found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found
