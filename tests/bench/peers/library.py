"""Operation 1 beside the library ``eventsourcing`` behind FastAPI."""

from collections.abc import Generator
from pathlib import Path
from typing import Final

import psutil

from tests.bench.library import environment
from tests.bench.peers.comparison import Comparison, postgres, requests
from tests.bench.stage import Stage, new_database
from tests.harness.environment import installed
from tests.harness.service import Server, own_environment, running

ROOT = Path(__file__).parents[3]
SERVICE = Path(__file__).with_name("library_service.py")
REQUIREMENTS: Final = (
    "eventsourcing[postgres]==9.5.6 psycopg[binary]==3.3.9 fastapi==0.163.2"
    " uvicorn[standard]==0.54.0"
)
# As many as the threads in which FastAPI runs its endpoints.
CONNECTIONS: Final = "40"


def compared(stage: Stage) -> Generator[Comparison, None, None]:
    """Yield the comparison.

    :raises MissingError: it can't be installed
    """
    python = installed(REQUIREMENTS, ROOT / ".peers/eventsourcing") / "bin/python"
    url = new_database(stage.database_url, "bench_library_over_http")
    settings = environment(url) | {
        "POSTGRES_POOL_SIZE": CONNECTIONS,
        # Each aggregate stays in memory, as with us.
        "AGGREGATE_CACHE_MAXSIZE": "10000",
        "AGGREGATE_CACHE_FASTFORWARD": "n",
    }
    server = Server(
        [python, SERVICE],
        stage.folder / "library_service.log",
        environment=own_environment(settings),
    )
    with running(server):
        database = postgres(stage.database_url)
        own = [psutil.Process(stage.api.pid), database]
        yield Comparison(
            ours_is="operation 1, `--only api`",
            theirs_is="`eventsourcing` behind FastAPI",
            ours=requests(stage.api.url, stage.rules, own),
            theirs=requests(
                server.url, stage.rules, [psutil.Process(server.pid), database]
            ),
        )
