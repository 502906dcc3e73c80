"""What warnings know of connectors' tools: kept while the log's cache has it so."""

from typing import Any
from uuid import UUID, uuid4

import pytest

from service.aggregate import LoggedAggregate
from service.connectors.aggregate import Connector
from service.event_log.cache import AggregateCache
from service.gateway import tool_names
from service.gateway.tool_names import LatestToolNames
from service.tool_definitions.aggregate import ToolDefinitions
from service.tool_rules.known_tools import UNKNOWN, KnownTools
from tests.support.gateway.listing import CREATE, LIST, seen


class FakeLog:
    """A log of which the cache has what was loaded, or committed by this process."""

    def __init__(self) -> None:
        self.cache = AggregateCache(1_000_000)
        self.committed: dict[UUID, LoggedAggregate] = {}
        self.loads = 0

    async def load(self, aggregate_id: UUID) -> LoggedAggregate | None:
        cached = self.cache.get(aggregate_id)
        if cached is None:
            self.loads += 1
            cached = self.committed.get(aggregate_id)
            if cached is not None:
                self.cache.put(cached)
        return cached


@pytest.fixture
def log() -> FakeLog:
    return FakeLog()


def registered(log: FakeLog) -> str:
    connector = Connector(
        owner_id=str(uuid4()), name="Tracker", url="https://t.example", description=""
    )
    log.committed[connector.id] = connector
    return str(connector.id)


def observed(connector_id: str, *listed: Any) -> ToolDefinitions:
    definitions = ToolDefinitions(connector_id=connector_id)
    definitions.observe(seen(*listed), {})
    return definitions


async def known(names: LatestToolNames, connector_id: str) -> KnownTools:
    return (await names.known_tools([connector_id]))[connector_id]


async def test_what_this_process_observes_is_known_at_once(log: FakeLog) -> None:
    names, connector_id = LatestToolNames(log), registered(log)  # type: ignore[arg-type]  # the part of it that is used

    before = await known(names, connector_id)
    log.cache.put(observed(connector_id, LIST))
    after = await known(names, connector_id)

    assert before.names is None
    assert before.prefixes == (f"tracker-{connector_id[:8]}", "tracker")
    assert after.names == ("issues.list",)
    assert await known(names, connector_id) is after


async def test_what_another_process_observes_is_looked_for_now_and_then(
    log: FakeLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, connector_id = LatestToolNames(log), registered(log)  # type: ignore[arg-type]  # likewise
    await known(names, connector_id)
    loads = log.loads
    definitions = observed(connector_id, LIST, CREATE)
    log.committed[definitions.id] = definitions

    assert (await known(names, connector_id)).names is None
    assert log.loads == loads

    monkeypatch.setattr(tool_names, "ABSENT_AGE_MAX_S", 0.0)
    assert (await known(names, connector_id)).names == ("issues.create", "issues.list")


async def test_so_many_connectors_are_kept_and_unknown_ones_have_nothing(
    log: FakeLog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tool_names, "NAMES_MAX", 2)
    names = LatestToolNames(log)  # type: ignore[arg-type]  # likewise
    ids = [registered(log) for _ in range(3)] + [str(uuid4())]

    for _ in range(2):
        found = await names.known_tools(ids)
        assert [each.names for each in found.values()] == [None] * 4
        assert found[ids[3]] is UNKNOWN
    assert len(names._kept) == 2  # noqa: SLF001 # its bound
