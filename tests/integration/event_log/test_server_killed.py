"""PostgreSQL is killed in the middle of commits, and comes back."""

import asyncio
import os
import random
import tempfile
from collections import Counter
from pathlib import Path

import psycopg
import pytest
from psycopg import AsyncConnection

from service.embedded_postgres.server import EmbeddedPostgres
from service.errors import UnavailableError
from service.event_log.append import OutcomeUnknownError
from service.event_log.log import EventLog
from service.migrate import migrate
from tests.support.event_log.ledger import Ledger
from tests.support.event_log.logs import (
    enter,
    entries,
    expect_sound,
    open_ledger,
    open_log,
)
from tests.support.harness.process_tree import kill
from tests.support.postgres_proxy import running_proxy
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

CLIENTS = 16
KILLS = 3


class Outcomes:
    """What the clients were told of each note."""

    def __init__(self) -> None:
        self.acknowledged: set[str] = set()
        self.refused: set[str] = set()
        self.unknown: set[str] = set()
        self.stop = False

    async def go_on(self) -> None:
        """Wait until some more commands have been acknowledged."""
        enough = len(self.acknowledged) + 50
        await until(lambda: len(self.acknowledged) >= enough, timeout_s=60)


async def keep_entering(
    log: EventLog, name: str, ledger_name: str, outcomes: Outcomes
) -> None:
    ledger_id = await open_ledger(log, ledger_name)
    number = 0
    while not outcomes.stop:
        number += 1
        note = f"{name}/{number}"
        try:
            await enter(log, ledger_id, note)
        except OutcomeUnknownError:
            outcomes.unknown.add(note)
        except (UnavailableError, psycopg.OperationalError):
            outcomes.refused.add(note)
            await asyncio.sleep(0.02)
        else:
            outcomes.acknowledged.add(note)


async def test_every_acknowledged_command_is_there_once() -> None:
    outcomes = Outcomes()
    with tempfile.TemporaryDirectory(prefix="killed-") as folder:
        for sub in ("data", "proxy"):
            os.mkdir(f"{folder}/{sub}")  # noqa: PTH102 # nothing to wait for
        server = EmbeddedPostgres.start(Path(folder, "data"))
        try:
            migrate(server.url)
            async with (
                running_proxy(Path(folder, "proxy")) as proxy,
                open_log(proxy.url(server.url)) as log,
            ):
                clients = [
                    asyncio.create_task(
                        keep_entering(log, f"c{n}", f"ledger {n}", outcomes)
                    )
                    for n in range(CLIENTS)
                ]
                for _ in range(KILLS):
                    await outcomes.go_on()
                    await asyncio.sleep(random.uniform(0, 0.2))  # noqa: S311
                    kill(server)
                    server = EmbeddedPostgres.start(Path(folder, "data"))
                    proxy.redirect(server.url)
                await outcomes.go_on()
                outcomes.stop = True
                await asyncio.gather(*clients)
                await expect_kept(log, outcomes)
            async with await AsyncConnection.connect(server.url) as db:
                await expect_sound(db)
        finally:
            server.stop()


async def expect_kept(log: EventLog, outcomes: Outcomes) -> None:
    found: Counter[str] = Counter()
    for number in range(CLIENTS):
        ledger_id = Ledger.create_id(f"ledger {number}")
        found.update(await entries(log, ledger_id))
    assert max(found.values()) == 1, "nothing is applied twice"
    assert outcomes.acknowledged <= found.keys(), "nothing acknowledged is lost"
    assert not outcomes.refused & found.keys(), "what was refused is not there"
    assert found.keys() - outcomes.acknowledged <= outcomes.unknown
