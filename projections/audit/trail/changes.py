"""The changes that one entry made to its resource."""

import psycopg

from projections.audit.state import Change, changes_between, state_of
from service.database import Db
from service.event_log.snapshots import Snapshots
from service.event_log.stored_entries import StoredEntry


async def changes_at(
    db: Db, snapshots: Snapshots, entry: StoredEntry
) -> list[Change] | None:
    """Compare the resource before and after an entry; None if it can't be read."""
    try:
        before = await snapshots.load(db, entry.aggregate_id, upto=entry.version - 1)
        after = await snapshots.load(db, entry.aggregate_id, upto=entry.version)
    except psycopg.Error:
        raise
    except Exception:  # noqa: BLE001 # whatever is wrong with it, the entry is shown
        return None
    return [*changes_between(state_of(before), state_of(after))]
