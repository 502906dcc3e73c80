"""Checks of a read replica, for ``agent-runtime doctor``."""

from collections.abc import Mapping
from typing import Final

import psycopg

from service.database import Pool, WrongSessionError, connect, deadline
from service.event_log.read_replica import ANSWER_S, LAG_MAX_S

REACHED: Final = "read replica can be reached"
ROLE: Final = "read replica gives the service's role and settings"
STANDBY: Final = "read replica is a standby"
SAME_LOG: Final = "read replica has the log of the primary"
LAG: Final = "read replica is up to date"
MEANWHILE: Final = "reads are asked of the primary meanwhile"

# The newest of its events, to be compared with the primary's.
AT_REPLICA = """
    SELECT pg_is_in_recovery(), h.epoch, h.position, e.command_id
      FROM events.head h
      LEFT JOIN events.stored_event e ON e.notification_id = h.position
"""
AT_PRIMARY = """
    SELECT h.epoch, h.position, e.command_id,
           coalesce(extract(epoch FROM clock_timestamp() - n.recorded_at), 0)::float8
      FROM events.head h
      LEFT JOIN events.stored_event e ON e.notification_id = %(position)s
      LEFT JOIN events.stored_event n ON n.notification_id = %(position)s + 1
"""


async def check_replica(primary: Pool, conninfo: str) -> Mapping[str, str | None]:
    """Return the problem that each check found, if any, by its name."""
    try:
        async with await connect(conninfo) as db:
            with deadline(db, ANSWER_S):
                row = await (await db.execute(AT_REPLICA)).fetchone()
    except WrongSessionError as error:
        return {REACHED: None, ROLE: str(error)}
    except (psycopg.Error, OSError) as error:
        # The first line: the others name each address that was tried.
        reason = str(error).strip().partition("\n")[0] or "it doesn't answer"
        return {REACHED: f"{reason}; {MEANWHILE}"}
    assert row is not None
    is_standby, epoch, position, command_id = row
    async with primary.connection() as db:
        cursor = await db.execute(AT_PRIMARY, {"position": position})
        row = await cursor.fetchone()
    assert row is not None
    own_epoch, head, own_command_id, lag_s = row
    return {
        REACHED: None,
        ROLE: None,
        STANDBY: None
        if is_standby
        else "it accepts writes: it is the primary, or was promoted beside it; name a "
        "standby of the primary in --read-database-url",
        SAME_LOG: None
        if (epoch, command_id) == (own_epoch, own_command_id)
        else "it has another epoch of the log, or events that the primary doesn't "
        f"have; make it a standby of this primary again; {MEANWHILE}",
        LAG: None
        if lag_s <= LAG_MAX_S
        else f"it is at position {position} of {head}, {lag_s:.0f} s behind; "
        f"{MEANWHILE}",
    }
