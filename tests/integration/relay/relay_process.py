"""A relay as a process of its own, to be killed.

Without the lock that lets one relay publish at a time, several of them fence each
other all the time, which is what a test of fencing wants.
"""

import asyncio
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import uvloop
from psycopg import AsyncConnection

from projections.relay import relay_position
from projections.relay.kafka.settings import KafkaSettings
from projections.relay.relay import run_relay
from service.aggregates import AGGREGATES
from service.connection_pool import connection_pool
from service.database import service_conninfo
from service.event_log.log import EventLog
from service.resources import Resources
from tests.support.harness.process import Process


def start(
    resources: Resources,
    kafka: KafkaSettings,
    *,
    with_lock: bool,
    words: Sequence[str] = (),
) -> Process:
    """Start one; ``words`` are those before its program."""
    settings = {name: value for name, value in asdict(kafka).items() if value}
    told = json.dumps(
        {"database": resources.database_url, "kafka": settings, "lock": with_lock}
    )
    process = Process(
        [*words, sys.executable, "-m", "tests.integration.relay.relay_process", told]
    )
    process.start()
    return process


async def relay(database: str, kafka: KafkaSettings) -> None:
    conninfo = service_conninfo(database)
    async with connection_pool(conninfo) as pool:
        log = EventLog(conninfo, AGGREGATES, pool)
        await log.start()
        async with run_relay(log, conninfo, kafka):
            await asyncio.Event().wait()


async def nobody_else(_db: AsyncConnection[Any]) -> bool:
    return True


if __name__ == "__main__":
    told = json.loads(sys.argv[1])
    if not told["lock"]:
        vars(relay_position)["is_leader"] = nobody_else
    # As the service does.
    uvloop.run(relay(told["database"], KafkaSettings(**told["kafka"])))
