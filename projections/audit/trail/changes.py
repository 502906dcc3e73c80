"""The changes that one entry made to its resource."""

import psycopg

from projections.audit.history.state import Change, changes_between, state_of
from service.database import Db
from service.event_log import aggregate_reader
from service.event_log.mapper import EventMapper
from service.event_log.stored_entries import StoredEntry


async def changes_at(
    db: Db, mapper: EventMapper, entry: StoredEntry
) -> list[Change] | None:
    """Compare the resource before and after an entry; None if it can't be read."""
    try:
        before, _ = await aggregate_reader.load(
            db, mapper, entry.aggregate_id, upto=entry.version - 1
        )
        after, _ = await aggregate_reader.load(
            db, mapper, entry.aggregate_id, upto=entry.version
        )
    except psycopg.Error:
        raise
    except Exception:  # noqa: BLE001 # whatever is wrong with it, the entry is shown
        return None
    return [*changes_between(state_of(before), state_of(after))]
