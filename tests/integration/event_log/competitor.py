"""A process of its own that enters a hundred notes into a ledger others write to."""

import asyncio
import sys
from uuid import UUID

from tests.support.event_log.logs import enter, open_log


async def main(database_url: str, ledger_id: str, name: str) -> None:
    async with open_log(database_url) as log:
        for number in range(100):
            await enter(log, UUID(ledger_id), f"{name}/{number}")


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
