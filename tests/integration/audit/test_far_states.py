"""Reads of a past state that is far from any snapshot leave one behind."""

import pytest

from service.connectors.aggregate import Connector
from service.resources import Resources
from tests.support.callers import Callers
from tests.support.event_log.snapshots import versions
from tests.support.reading import read_events
from tests.support.tool_rules.setting import Setting

EDITS = 250
FAR = 150


def edit_often(connector: Connector) -> None:
    for number in range(EDITS):
        connector.edit(
            name=f"Tracker {number}", url=connector.url, description=connector.name
        )


@pytest.mark.parametrize(
    "path",
    [
        "/api/audit/aggregates/{id}?version={version}",
        "/api/audit/aggregates/{id}?at={position}",
        "/api/audit/aggregates/{id}/difference?since={position}&until={until}",
        "/api/audit/events/{position}",
        "/api/mcp/connectors/{id}?at={position}",
    ],
)
async def test_a_read_of_a_far_state_leaves_a_snapshot(
    callers: Callers, setting: Setting, resources: Resources, path: str
) -> None:
    root = await callers.user("root", "superuser")
    connector = await setting.connector(root)
    await setting.change(connector, edit_often)
    snapshots = resources.log.snapshots
    await snapshots.stop()
    events = await read_events(resources.log, after=0, upto=2**62, limit=1000)
    own = [each for each in events if each.aggregate_id == connector]
    position, until = own[FAR - 1].position, own[-1].position
    where = path.format(id=connector, version=FAR, position=position, until=until)

    first = await root.get(where, X_Min_Position=str(until))
    await snapshots.stop()

    async with resources.pool.connection() as db:
        (left, newest) = await versions(db, connector)
    assert newest == EDITS + 1
    # The state before an entry is as far as that after it.
    assert left in (FAR, FAR - 1)
    second = await root.get(where)
    # Reading moves the end of the log, to which a version is replayed.
    known = {**first.data, "position": None}
    assert (first.status, {**second.data, "position": None}) == (200, known)
