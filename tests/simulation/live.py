"""The real system where it waits: what the model has to predict, on any machine.

Commits, and the steps of a follower, wait so long that the machine's speed hardly
counts; what else takes time is measured in the same minutes.

    python -m tests.simulation.live [--record]
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Any

import pytest
import uvloop

from service.embedded_postgres.server import EmbeddedPostgres
from service.event_log.log import EventLog
from service.migrate import migrate
from tests.bench.stage import new_database
from tests.simulation.checks import (
    CALLERS,
    LAG_RATE,
    WRITERS,
    WRITERS_CALLERS,
    Observed,
    compare,
)
from tests.simulation.real import (
    Caller,
    Samples,
    caller_of,
    closed_loops,
    delay_commits,
    lags,
    logs_on,
    warm_up,
)
from tests.simulation.service_times import BatchTime, record
from tests.time_limits import raise_limits

DELAY_S = 0.5
# How many commits each load takes at least.
CYCLES = 4
LAG_SECONDS = 6.0


async def live(server_url: str, folder: Path) -> dict[str, Any]:
    """Return what the real system reaches, and its service times meanwhile."""
    url = new_database(server_url, "waiting")
    migrate(url)
    data = folder / "waiting"
    data.mkdir(mode=0o700)
    async with caller_of(url, data) as (caller, resources):
        found, steps = await lags(resources, caller, LAG_RATE, LAG_SECONDS)
        async with logs_on(url, max(WRITERS)) as logs:
            for log in logs:
                await warm_up(log, caller)
            delay_commits(url, DELAY_S)
            return {
                **await _loads(caller, logs),
                "lag": median(found),
                "step": median(steps),
            }


async def _loads(caller: Caller, logs: Sequence[EventLog]) -> dict[str, Any]:
    samples = Samples()
    callers, writers = {}, {}
    for count in CALLERS:
        await samples.take(logs[0], caller, (1, WRITERS_CALLERS))
        callers[str(count)] = await closed_loops(
            logs[:1], [caller], count, DELAY_S * CYCLES
        )
    for count in WRITERS:
        await samples.take(logs[0], caller, (1, WRITERS_CALLERS))
        writers[str(count)] = await closed_loops(
            logs[:count], [caller], WRITERS_CALLERS, DELAY_S * CYCLES * count
        )
    return {
        "loop": asdict(BatchTime.fit(samples.loop)),
        "append": asdict(BatchTime.fit(samples.wait)),
        "callers": {count: asdict(load) for count, load in callers.items()},
        "writers": {count: asdict(load) for count, load in writers.items()},
    }


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.simulation.live")
    parser.add_argument("--record", action="store_true", help="what it found")
    options = parser.parse_args()
    with (
        pytest.MonkeyPatch.context() as patch,
        tempfile.TemporaryDirectory(prefix="agent-runtime-live-") as name,
        EmbeddedPostgres.start(Path(name)) as postgres,
    ):
        raise_limits(patch)
        observed = uvloop.run(live(postgres.url, Path(name)))
    if options.record:
        record({"observed": observed})
    comparisons = compare(Observed.of(observed))
    for each in comparisons:
        print(each)
    return 0 if all(each.holds for each in comparisons) else 1


if __name__ == "__main__":
    sys.exit(main())
