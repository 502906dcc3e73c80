"""Which tests share a worker of pytest-xdist, and which begin.

Who needs a broker, a browser or a Phoenix shares it with others, instead of starting
one in each worker. They take longest, so they are first.

Unit tests are sent to the workers by module: one by one, sending would take longer than
they do.
"""

from collections.abc import MutableSequence
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

SHARED = {
    "tests/integration/kafka/": "kafka",
    "tests/integration/relay/": "kafka",
    "tests/integration/phoenix/": "phoenix",
    # Each of these modules has a service for all of its tests.
    "tests/integration/http/": "http",
    # They share a service with demo data, and a browser.
    "tests/integration/console/browser/": "console",
    "tests/integration/openapi/test_conformance.py": "conformance",
}


def shared_by(nodeid: str) -> str | None:
    for beginning, name in SHARED.items():
        if nodeid.startswith(beginning):
            return name
    return None


class Scheduling(LoadScopeScheduling):
    """Like xdist's loadgroup, which pytest 9.2 no longer tells the groups."""

    def _split_scope(self, nodeid: str) -> str:
        if nodeid.startswith("tests/unit/"):
            return nodeid.partition("::")[0]
        return shared_by(nodeid) or nodeid


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Scheduling:
    return Scheduling(config, log)


def pytest_collection_modifyitems(items: MutableSequence[pytest.Item]) -> None:
    names = list(dict.fromkeys(SHARED.values()))

    def place(item: pytest.Item) -> int:
        name = shared_by(item.nodeid)
        return names.index(name) if name else len(names)

    items[:] = sorted(items, key=place)
