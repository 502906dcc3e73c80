"""Operation 1 beside a plain service over the same PostgreSQL."""

import sys
from collections.abc import Generator
from hashlib import sha256
from uuid import uuid4

import psutil
import psycopg

from tests.bench import processes
from tests.bench.peers.comparison import Comparison, postgres, requests
from tests.bench.peers.crud_service import TABLES
from tests.bench.plan import Plan
from tests.bench.stage import Stage, new_database
from tests.harness.service import Server, running

TARGET = 2.0
THEIRS = "plain service: aiohttp, one UPDATE and an audit row"


def compared(stage: Stage) -> Generator[Comparison, None, None]:
    url = new_database(stage.database_url, "bench_crud")
    _fill(url, Plan.read(stage.rules))
    command = [sys.executable, "-m", "tests.bench.peers.crud_service", url]
    with running(Server(command, stage.folder / "crud.log")) as server:
        database = postgres(stage.database_url)
        own = [psutil.Process(stage.api.pid), database]
        theirs = requests(
            server.url, stage.rules, [psutil.Process(server.pid), database]
        )
        yield Comparison(
            ours_is="operation 1, `--only api`",
            theirs_is=THEIRS,
            ours=requests(stage.api.url, stage.rules, own),
            theirs=theirs,
            target=TARGET,
        )
        data_dir = stage.folder / "rules"
        with processes.followers(stage.database_url, data_dir) as followers:
            own.append(psutil.Process(followers.pid))
            yield Comparison(
                ours_is="operation 1, with the follower process",
                theirs_is=THEIRS,
                ours=requests(stage.api.url, stage.rules, own),
                theirs=theirs,
            )


def _fill(url: str, plan: Plan) -> None:
    """Insert the token and the agents that the requests name."""
    token = plan.headers["Authorization"].removeprefix("Bearer ")
    agents = {request.path.split("/")[4] for request in plan.requests}
    user = uuid4()
    with psycopg.connect(url) as db:
        db.execute(TABLES.encode())
        db.execute(
            "INSERT INTO api_token VALUES (%s, %s)",
            [sha256(token.encode()).digest(), user],
        )
        db.execute(
            "INSERT INTO agent_rules SELECT unnest(%s::uuid[]), %s, 0, '[]'",
            [list(agents), user],
        )
