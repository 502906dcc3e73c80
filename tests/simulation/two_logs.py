"""Two logs on two PostgreSQL against one, where commits wait.

    python -m tests.simulation.two_logs [--record]

Real processes of PostgreSQL, real writers; the figure is a ratio of one run.
"""

import argparse
import tempfile
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path

import pytest
import uvloop

from service.embedded_postgres.server import EmbeddedPostgres
from service.migrate import migrate
from tests.simulation.real import (
    caller_of,
    closed_loops,
    delay_commits,
    logs_on,
    warm_up,
)
from tests.simulation.service_times import record
from tests.time_limits import raise_limits

CALLERS = 4
DELAY_S = 1.0
SECONDS = 8.0
ROUNDS = 5


async def ratios(urls: list[str], folders: list[Path]) -> list[float]:
    """Return commands a second with two logs, of those with one log and two writers.

    One for each round.
    """
    async with AsyncExitStack() as stack:
        callers = []
        for url, folder in zip(urls, folders, strict=True):
            caller, _ = await stack.enter_async_context(caller_of(url, folder))
            callers.append(caller)
        first = await stack.enter_async_context(logs_on(urls[0], 2))
        second = await stack.enter_async_context(logs_on(urls[1], 1))
        for log in first:
            await warm_up(log, callers[0])
        await warm_up(second[0], callers[1])
        for url in urls:
            delay_commits(url, DELAY_S)
        found = []
        for _ in range(ROUNDS):
            one = await closed_loops(first, [callers[0]], 2 * CALLERS, SECONDS)
            two = await closed_loops(
                [first[0], second[0]], callers, 2 * CALLERS, SECONDS
            )
            found.append(round(two.rate / one.rate, 3))
        return found


def measure() -> list[float]:
    with ExitStack() as stack:
        raise_limits(stack.enter_context(pytest.MonkeyPatch.context()))
        urls, folders = [], []
        for _ in range(2):
            name = stack.enter_context(
                tempfile.TemporaryDirectory(prefix="agent-runtime-two-")
            )
            postgres = stack.enter_context(EmbeddedPostgres.start(Path(name)))
            migrate(postgres.url)
            urls.append(postgres.url)
            folders.append(Path(name) / "api")
            folders[-1].mkdir(mode=0o700)
        return uvloop.run(ratios(urls, folders))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.two_logs")
    parser.add_argument("--record", action="store_true", help="what it found")
    options = parser.parse_args()
    found = measure()
    print(*(f"{each:.2f}" for each in found), "times the commands of one log")
    if options.record:
        record({"two_logs": found})


if __name__ == "__main__":
    main()
