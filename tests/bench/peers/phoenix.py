"""Operation 4 and trace ingest beside those of Arize Phoenix, with the same sessions.

Phoenix keeps them in SQLite, its default, and answers an export before it has stored
it: it is measured until its last span is there.
"""

import asyncio
import time
from collections.abc import Generator
from itertools import islice
from typing import Any, Final

import aiohttp
import orjson
import psutil

from tests.bench.peers.comparison import (
    Comparison,
    Measure,
    Measured,
    cpu_s,
    cpu_used,
    postgres,
    requests,
)
from tests.bench.plan import Plan, Request
from tests.bench.sessions import (
    LIST,
    PHOENIX_LIST,
    TRACES,
    TRACES_IN_PHOENIX,
    fill,
    spans_of,
)
from tests.bench.stage import Stage, new_database
from tests.harness import environment
from tests.harness.service import Server, running, serving
from tests.phoenix.installed import MissingError, phoenix_python
from tests.phoenix.server import Phoenix, running_phoenix
from tests.sessions.otlp.spans import PROTOBUF, export, pairs
from tests.waiting import until

SESSIONS: Final = 1_000
# Of ten sessions, as an exporter sends them.
SPANS_AT_ONCE: Final = 60
EXPORTS: Final = 40
CALLERS: Final = 4
CONNECTIONS: Final = 8
STORED_TIMEOUT_S: Final = 600.0


def compared(stage: Stage) -> Generator[Comparison, None, None]:
    """Yield the comparisons.

    :raises MissingError: Phoenix isn't installed
    """
    try:
        python = phoenix_python()
    except MissingError as missing:
        raise environment.MissingError(missing) from None
    url = new_database(stage.database_url, "bench_phoenix")
    folder, data = stage.folder / "phoenix", stage.folder / "phoenix-data"
    for each in (folder, data):
        each.mkdir(mode=0o700)
    where = ("--data-dir", str(data), "--log-level", "error", "--database-url", url)
    with (
        running_phoenix(python, folder) as phoenix,
        running(serving(*where, log=data / "log")) as server,
    ):
        token = (data / "admin-token").read_text().strip()
        agent = asyncio.run(fill(server.url, token, phoenix, SESSIONS))
        own = [psutil.Process(server.pid), postgres(url)]
        other = [psutil.Process(phoenix.pid)]
        headers = {"Authorization": f"Bearer {token}"}
        ours = Plan(headers, [Request("GET", LIST)])
        question = {"query": PHOENIX_LIST, "variables": {"name": agent}}
        theirs = Plan(
            {"Content-Type": "application/json"},
            [Request("POST", "/graphql", orjson.dumps(question))],
        )
        yield Comparison(
            ours_is="operation 4, 25 sessions, 8 connections",
            theirs_is="Arize Phoenix: 25 sessions by GraphQL",
            ours=requests(
                server.url,
                ours.write(data / "list.plan"),
                own,
                connections=CONNECTIONS,
            ),
            theirs=requests(
                phoenix.base_url,
                theirs.write(folder / "list.plan"),
                other,
                connections=CONNECTIONS,
            ),
        )
        yield Comparison(
            ours_is="`POST /v1/traces`, 60 spans each, 4 callers",
            theirs_is="Arize Phoenix: the same spans, until stored",
            ours=_ours_ingested(server, headers, agent, own),
            theirs=_theirs_ingested(phoenix, agent, other),
        )


class _Exports:
    """Exports of spans of new sessions, each to be sent once."""

    def __init__(self, agent: str) -> None:
        self._agent = agent
        self._spans = spans_of(10**9)
        # The first ones are stored already.
        self.next(SESSIONS * TRACES * 2)

    def next(self, count: int) -> bytes:
        request = export(self._agent, *islice(self._spans, count))
        resource = request.resource_spans[0].resource
        resource.attributes.extend(pairs({"openinference.project.name": self._agent}))
        return request.SerializeToString()


def _ours_ingested(
    server: Server, headers: dict[str, str], agent: str, own: list[psutil.Process]
) -> Measure:
    exports = _Exports(agent)

    def measure(_seconds: float) -> Measured:
        return asyncio.run(_ingested(f"{server.url}/v1/traces", headers, exports, own))

    return measure


def _theirs_ingested(
    phoenix: Phoenix, agent: str, other: list[psutil.Process]
) -> Measure:
    exports = _Exports(agent)

    def stored() -> int:
        return int(phoenix.ask(TRACES_IN_PHOENIX, name=agent)["p"]["recordCount"])

    def measure(_seconds: float) -> Measured:
        return asyncio.run(_ingested(phoenix.traces_url, {}, exports, other, stored))

    return measure


async def _ingested(
    url: str,
    headers: dict[str, str],
    exports: _Exports,
    processes: list[psutil.Process],
    stored: Any = None,
) -> Measured:
    """Send a number of exports; measure until all are answered and stored."""
    bodies = [exports.next(SPANS_AT_ONCE) for _ in range(EXPORTS)]
    expected = (stored() if stored else 0) + EXPORTS * SPANS_AT_ONCE
    times: list[float] = []
    waiting = iter(bodies)

    async def send(http: aiohttp.ClientSession) -> None:
        for body in waiting:
            started = time.perf_counter()
            async with http.post(url, data=body) as answer:
                assert answer.status == 200, await answer.text()
                await answer.read()
            times.append(time.perf_counter() - started)

    before, began = cpu_s(processes), time.perf_counter()
    async with aiohttp.ClientSession(
        headers={**headers, "Content-Type": PROTOBUF}
    ) as http:
        await asyncio.gather(*(send(http) for _ in range(CALLERS)))
    if stored:
        await until(lambda: stored() >= expected, timeout_s=STORED_TIMEOUT_S)
    took = time.perf_counter() - began
    used = cpu_used(before, cpu_s(processes))
    times.sort()
    p99 = times[int(len(times) * 0.99)]
    return Measured(EXPORTS / took, used / EXPORTS, p99 * 1000)
