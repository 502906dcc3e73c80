"""Pages of the session list: alone, enriched by Phoenix, and Phoenix's own.

    python -m tests.instruments.bench.sessions [--sessions 1000] [--seconds 8]

The same spans go to this service and to Phoenix; then the newest 25 sessions of one
agent are listed, by one caller and by eight at once. A process each for PostgreSQL,
Phoenix, the service and the callers, all on this machine.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import quantiles
from typing import Any

import aiohttp
import orjson

from projections.sessions.phoenix.documents import FIELDS
from service.embedded_postgres.server import EmbeddedPostgres
from tests.integration.phoenix.server import Phoenix, phoenix_python, running_phoenix
from tests.support.harness.service import running, serving
from tests.support.sessions.otlp.spans import NOON, PROTOBUF, export, llm, pairs, span

PAGE = 25
TRACES = 3
SPANS_AT_ONCE = 600
WARM_UP_S = 1.0
STARTED = datetime.now(UTC) - timedelta(hours=1)
LIST = f"/api/observability/session/list?limit={PAGE}"
PHOENIX_LIST = f"""
query($name: String!) {{ p: getProjectByName(name: $name) {{
  sessions(first: {PAGE}, sort: {{col: startTime, dir: desc}}) {{
    edges {{ node {{ startTime endTime firstInput {{ value }} lastOutput {{ value }}
      ...Fields }} }} }} }} }}
{FIELDS}
"""
TRACES_IN_PHOENIX = """
query($name: String!) { p: getProjectByName(name: $name) { traceCount recordCount } }
"""

# Ask for a page, and say whether it was whole: enriched, where it should be.
Ask = Callable[[aiohttp.ClientSession], Awaitable[bool]]


async def fill(base_url: str, token: str, phoenix: Phoenix, sessions: int) -> str:
    """Send the same sessions to both; return the agent's id."""
    async with caller(token) as http:
        reply = await http.post(
            f"{base_url}/api/catalog/agents", json={"name": "benchmark"}
        )
        agent_id = str((await reply.json())["data"]["id"])
        spans = list(spans_of(sessions))
        for start in range(0, len(spans), SPANS_AT_ONCE):
            request = export(agent_id, *spans[start : start + SPANS_AT_ONCE])
            resource = request.resource_spans[0].resource
            resource.attributes.extend(pairs({"openinference.project.name": agent_id}))
            for url in (f"{base_url}/v1/traces", phoenix.traces_url):
                sent = await http.post(
                    url,
                    data=request.SerializeToString(),
                    headers={"Content-Type": PROTOBUF},
                )
                assert sent.status == 200, await sent.text()
    while True:
        found = phoenix.ask(TRACES_IN_PHOENIX, name=agent_id)["p"]
        if found and found["recordCount"] >= len(spans):
            return agent_id
        await asyncio.sleep(0.5)


def spans_of(sessions: int) -> Iterator[Any]:
    offset = (STARTED - NOON).total_seconds()
    for number in range(sessions):
        for turn in range(TRACES):
            trace = number * TRACES + turn + 1
            start = offset + number + turn * 10
            words: dict[str, Any] = {"trace": trace, "start": start, "took": 1 + turn}
            yield span(
                2 * trace,
                session__id=f"session-{number}",
                input__value=f"question {turn} of session {number}",
                output__value=f"answer {turn} of session {number}",
                **words,
            )
            yield llm(
                2 * trace + 1,
                2 * trace,
                1000 + turn,
                100,
                **words,
                llm__model_name="gpt-4o-mini",
                llm__provider="openai",
            )


@asynccontextmanager
async def caller(token: str) -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(
        headers={"Authorization": f"Bearer {token}"},
        connector=aiohttp.TCPConnector(limit=0),
    ) as http:
        yield http


async def measured(ask: Ask, token: str, callers: int, seconds: float) -> str:
    """Ask again and again; say how many pages a second, and how long they took."""
    times: list[float] = []
    whole: list[bool] = []

    async def keep_asking(http: aiohttp.ClientSession, until: float) -> None:
        while (started := time.perf_counter()) < until:
            whole.append(await ask(http))
            times.append(time.perf_counter() - started)

    async with caller(token) as http:
        for length in (WARM_UP_S, seconds):
            times.clear()
            whole.clear()
            until = time.perf_counter() + length
            await asyncio.gather(*(keep_asking(http, until) for _ in range(callers)))
    cuts = quantiles(times, n=100)
    return (
        f"{len(times) / seconds:8.1f} pages/s, p50 {cuts[49] * 1000:6.1f} ms,"
        f" p99 {cuts[98] * 1000:6.1f} ms, {sum(whole) / len(whole):.1%} whole"
    )


def our_list(base_url: str, says: str) -> Ask:
    async def ask(http: aiohttp.ClientSession) -> bool:
        async with http.get(base_url + LIST) as response:
            body = await response.read()
        rows = orjson.loads(body)["data"]["sessions"]
        assert len(rows) == PAGE
        return {row["trace_store"] for row in rows} == {says}

    return ask


def phoenix_list(phoenix: Phoenix, agent_id: str) -> Ask:
    question = {"query": PHOENIX_LIST, "variables": {"name": agent_id}}

    async def ask(http: aiohttp.ClientSession) -> bool:
        async with http.post(f"{phoenix.base_url}/graphql", json=question) as response:
            body = await response.read()
        return len(orjson.loads(body)["data"]["p"]["sessions"]["edges"]) == PAGE

    return ask


async def end_all(base_url: str, token: str, sessions: int) -> None:
    async with caller(token) as http:
        for number in range(sessions):
            path = f"/api/observability/session/session-{number}/end"
            ended = STARTED + timedelta(seconds=number + 60)
            reply = await http.post(
                base_url + path, json={"ended_at": ended.isoformat()}
            )
            assert reply.status == 200, await reply.text()


async def run(sessions: int, seconds: float) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each in ("postgres", "phoenix", "data"):
            (folder / each).mkdir()
        data = folder / "data"
        where = ("--data-dir", str(data), "--log-level", "error", "--database-url")
        with (
            running_phoenix(phoenix_python(), folder / "phoenix") as phoenix,
            EmbeddedPostgres.start(folder / "postgres") as postgres,
            running(serving(*where, postgres.url, log=folder / "log")) as server,
        ):
            alone = server.url
            token = (data / "admin-token").read_text().strip()
            agent_id = await fill(alone, token, phoenix, sessions)
            print(f"{sessions} sessions of {TRACES} traces, pages of {PAGE}")
            store = ("--only", "api", "--trace-store", phoenix.base_url)

            async def report(title: str, ask: Ask) -> None:
                for callers in (1, 8):
                    found = await measured(ask, token, callers, seconds)
                    line = f"{title:30} {callers} at once {found}"
                    print(line, flush=True)

            await report("without a trace store", our_list(alone, "not_configured"))
            enriching = serving(*where, postgres.url, *store, log=folder / "log")
            with running(enriching) as second:
                enriched = second.url
                await report("enriched by Phoenix", our_list(enriched, "found"))
                await end_all(alone, token, sessions)
                await asyncio.sleep(1)
                await report(
                    "enriched, sessions have ended", our_list(enriched, "found")
                )
            await report("Phoenix's own list", phoenix_list(phoenix, agent_id))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=8.0)
    given = parser.parse_args()
    asyncio.run(run(given.sessions, given.seconds))


if __name__ == "__main__":
    main()
