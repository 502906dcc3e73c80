"""Recognize which history of the log a server continues, after a fail-over too."""

import asyncio
import logging
from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from service.database import Db

# For a process that was there before to prove that nothing was lost.
PROOF_TIMEOUT_S = 3.0
PROOF_STEP_S = 0.2

FOUND = "SELECT epoch, server, events.server() FROM events.head"
CONTINUE = "SELECT events.continue_on_server(%s, %s, %s)"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Mark:
    """An event of the log: enough to recognize its history by."""

    epoch: UUID
    position: int
    command_id: UUID


class History(NamedTuple):
    """The epoch of the log, and the server that it is continued on.

    Versions of one history don't compare with those of another one.
    """

    epoch: UUID
    server: str


async def recognize(
    connection: Db, known: History | None, mark: Mark | None
) -> History:
    """Return the history that a server continues; gives it a new epoch if it was cut.

    ``known`` is the one of this process until now, ``mark`` an event of it that no
    fail-over should have undone. Another server that has this event has lost nothing
    of what this process knows. Without a mark, any other server may have.
    """
    clock = asyncio.get_running_loop().time
    give_up = clock() + PROOF_TIMEOUT_S
    while True:
        epoch, recorded, here = await _found(connection)
        # A server that was recovered twice from one backup can have one timeline twice.
        is_same = here == recorded and (known is None or known.server == here)
        has_proof = mark is not None and mark.epoch == epoch
        if is_same or (here == recorded and not has_proof):
            return History(epoch, here)
        if has_proof or recorded is None or clock() > give_up:
            break
        await asyncio.sleep(PROOF_STEP_S)
    proof = (mark.epoch, mark.position, mark.command_id) if mark else (None, None, None)
    row = await (await connection.execute(CONTINUE, proof)).fetchone()
    assert row is not None
    if row[0] != epoch:
        logger.error("the log was cut: the server lacks events that it had")
    elif recorded is not None:
        logger.warning("the log continues on another server", extra={"server": here})
    return History(row[0], here)


async def _found(connection: Db) -> tuple[UUID, str | None, str]:
    row = await (await connection.execute(FOUND)).fetchone()
    assert row is not None
    return row[0], row[1], row[2]
