"""One cluster for all tests of this folder."""

from collections.abc import Iterator

import pytest

from tests.instruments.faults.failover.cluster import Cluster, running_cluster, tools
from tests.instruments.faults.tools import MissingToolError, go_without


@pytest.fixture(scope="package")
def cluster() -> Iterator[Cluster]:
    try:
        tools()
    except MissingToolError as missing:
        go_without(missing)
    with running_cluster() as cluster:
        yield cluster
