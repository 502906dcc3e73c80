"""Reads of history after many changes: ``python -m tests.instruments.bench.history``.

One agent's 50 rules are replaced again and again, with new patterns each time. Each
read of its history is timed after 100, 1,000 and 10,000 replacements (``--lengths``),
at positions chosen at random; then a list that others read, alone and beside eight
callers of those reads. Fails if a median has more than doubled, if the list takes
100 ms or more in one of a hundred cases, or if it is refused.
"""

import argparse
import asyncio
import itertools
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median, quantiles
from typing import Any, Final

import aiohttp

from tests.support.harness.service import running, serving

RULES: Final = 50
TOOL: Final = "crm.contacts.list"
CALLERS: Final = 8
REPETITIONS: Final = 40
BESIDE_S: Final = 15.0
INTERVAL_S: Final = 0.05
GROWTH_MAX: Final = 2.0
OTHERS_MS_MAX: Final = 100.0

Paths = Mapping[str, Callable[[], str]]


class History:
    """One agent, its rules, and the positions of their replacements."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self.positions: list[int] = []

    async def begin(self) -> None:
        agent, _ = await self._call("POST", "/api/catalog/agents", {"name": "A"})
        described = {"name": "C", "url": "https://crm.example/mcp"}
        connector, _ = await self._call("POST", "/api/mcp/connectors", described)
        self._agent, self._connector = agent["id"], connector["id"]
        await self._call(
            "PUT",
            f"/api/mcp/connectors/{self._connector}/grants/agents/{self._agent}",
        )

    async def grow(self, length: int) -> None:
        while len(self.positions) < length:
            number = len(self.positions)
            _, position = await self._call(
                "PUT",
                f"/api/mcp/agents/{self._agent}/tools",
                {
                    "rules": [
                        {
                            "connector_id": self._connector,
                            "tool_pattern": f"crm.v{number}.*.tool{each}",
                            "stance": "allow",
                        }
                        for each in range(RULES - 1)
                    ]
                    + [
                        {
                            "connector_id": self._connector,
                            "tool_pattern": "crm.contacts.*",
                            # Changes seldom, so that one has to look back.
                            "stance": "ask" if number // 40 % 2 else "allow",
                        }
                    ]
                },
            )
            self.positions.append(position)
        entry, _ = await self._call("GET", f"/api/audit/events/{self.positions[0]}")
        self._rules = entry["resource"]["id"]

    def reads(self) -> Paths:
        def some() -> int:
            return random.choice(self.positions)  # noqa: S311 # no secret

        def between() -> str:
            since, until = sorted((some(), some()))
            return f"since={since}&until={until}"

        rules = f"/api/mcp/agents/{self._agent}/tools"
        explain = f"{rules}/explain?connector_id={self._connector}&tool={TOOL}"
        audit = "/api/audit"
        decisions = f"{audit}/agents/{self._agent}/decisions/difference"
        return {
            "explain": lambda: explain,
            "explain at": lambda: f"{explain}&at={some()}",
            "rules at": lambda: f"{rules}?at={some()}",
            "audit entry": lambda: f"{audit}/events/{some()}",
            "aggregate difference": lambda: (
                f"{audit}/aggregates/{self._rules}/difference?{between()}"
            ),
            "decisions difference": lambda: f"{decisions}?{between()}&tools={TOOL}",
        }

    async def timed_ms(self, path: Callable[[], str]) -> list[float]:
        found = []
        for _ in range(REPETITIONS):
            began = time.perf_counter()
            await self._call("GET", path())
            found.append((time.perf_counter() - began) * 1000)
        return found

    async def _call(
        self, method: str, path: str, body: object = None
    ) -> tuple[Any, int]:
        async with self._session.request(method, path, json=body) as response:
            answer = await response.json()
            if not response.ok:
                raise RuntimeError(f"{method} {path}: {response.status} {answer}")
            return answer["data"], int(response.headers.get("X-Event-Position", 0))


async def others_ms(
    session: aiohttp.ClientSession, paths: Paths, *, callers: int
) -> tuple[list[float], int]:
    """Time another list at fixed moments, beside some callers of other reads.

    :returns: the times, and how often the list was refused
    """
    found: list[float] = []
    refused = 0
    is_over = asyncio.Event()

    async def call(number: int) -> None:
        for path in itertools.islice(itertools.cycle(paths.values()), number, None):
            if is_over.is_set():
                return
            async with session.get(path()) as response:
                await response.read()

    async def look() -> None:
        nonlocal refused
        began = time.perf_counter()
        async with session.get("/api/users") as response:
            await response.read()
            refused += not response.ok
        found.append((time.perf_counter() - began) * 1000)

    calls = [asyncio.create_task(call(number)) for number in range(callers)]
    looks = []
    until = time.monotonic() + BESIDE_S
    while time.monotonic() < until:
        looks.append(asyncio.create_task(look()))
        await asyncio.sleep(INTERVAL_S)
    await asyncio.gather(*looks)
    is_over.set()
    await asyncio.gather(*calls)
    return found, refused


async def measure(url: str, token: str, lengths: list[int]) -> list[str]:
    """Print what was measured, and return what is too slow."""
    problems: list[str] = []
    first: dict[str, float] = {}
    async with aiohttp.ClientSession(
        url, headers={"Authorization": f"Bearer {token}"}
    ) as session:
        history = History(session)
        await history.begin()
        for length in lengths:
            await history.grow(length)
            print(f"{length} replacements, p50 and p95 in ms:")
            for name, path in history.reads().items():
                times = await history.timed_ms(path)
                middle, p95 = median(times), quantiles(times, n=20)[-1]
                print(f"  {name:22} {middle:6.1f} {p95:6.1f}", flush=True)
                growth = middle / first.setdefault(name, middle)
                if growth > GROWTH_MAX:
                    problems.append(f"{name}: {growth:.1f} times as long")
        for callers in (0, CALLERS):
            times, refused = await others_ms(session, history.reads(), callers=callers)
            p99 = quantiles(times, n=100)[-1]
            print(
                f"/api/users beside {callers} callers: p50 {median(times):.1f} ms, "
                f"p99 {p99:.1f} ms, {refused} refused",
                flush=True,
            )
            if p99 >= OTHERS_MS_MAX or refused:
                problems.append(f"others: p99 {p99:.0f} ms, {refused} refused")
    return problems


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lengths", type=int, nargs="+", default=[100, 1000, 10_000])
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        running(
            serving(*("--data-dir", f"{folder}/data"), log=Path(folder) / "serve.log")
        ) as server,
    ):
        problems = asyncio.run(measure(server.url, server.admin_token, options.lengths))
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
