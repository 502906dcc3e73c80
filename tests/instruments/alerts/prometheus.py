"""A Prometheus with the alert rules, and when each alert fired."""

import asyncio
import shutil
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import aiohttp
import yaml

from tests.instruments.alerts.rules import RULES, scaled
from tests.support.harness.process import Process, free_ports
from tests.support.waiting import until

POLL_S: Final = 0.2
# An interval, and Prometheus's defaults of how long a sample counts and a scrape takes.
INTERVAL_S: Final = 15.0
LOOKBACK_S: Final = 300.0
TIMEOUT_S: Final = 10.0
# The service collects its metrics no more often.
INTERVAL_MIN_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Fired:
    """An alert that fired until then, in monotonic seconds."""

    alert: str
    ended: float


@dataclass(slots=True)
class Watch:
    """Asks a Prometheus which alerts fire, and remembers it.

    ``firing`` says since when each does, in monotonic seconds. ``pending`` are those
    whose condition holds, for less than their time.
    """

    url: str
    http: aiohttp.ClientSession
    firing: dict[str, float] = field(default_factory=dict)
    pending: set[str] = field(default_factory=set)
    past: list[Fired] = field(default_factory=list)

    async def run(self) -> None:
        while True:
            self._note(await self._ask(), time.monotonic())
            await asyncio.sleep(POLL_S)

    async def fires(self, alert: str, timeout_s: float) -> float:
        """Wait until an alert fires; return since when."""
        await until(lambda: alert in self.firing, timeout_s=timeout_s, step_s=POLL_S)
        return self.firing[alert]

    async def ends(self, alert: str, timeout_s: float) -> float:
        """Wait until an alert that has fired doesn't any more; return since when."""
        await until(
            lambda: alert not in self.firing, timeout_s=timeout_s, step_s=POLL_S
        )
        return max(e.ended for e in self.past if e.alert == alert)

    def fired_since(self, began: float) -> set[str]:
        """Return the alerts that fired at any time since then."""
        return {e.alert for e in self.past if e.ended > began} | set(self.firing)

    async def scrapes(self) -> bool:
        """Say whether every target answers."""
        async with self.http.get(f"{self.url}/api/v1/query?query=up") as reply:
            result = (await reply.json())["data"]["result"]
        return bool(result) and all(each["value"][1] == "1" for each in result)

    async def calm(self, besides: set[str], timeout_s: float) -> None:
        """Wait until no alert is firing or pending."""
        await until(
            lambda: not (self.pending | self.firing.keys()) - besides,
            timeout_s=timeout_s,
            step_s=POLL_S,
        )

    async def _ask(self) -> set[str]:
        async with self.http.get(f"{self.url}/api/v1/alerts") as reply:
            alerts = (await reply.json())["data"]["alerts"]
        named = [(each["labels"]["alertname"], each["state"]) for each in alerts]
        self.pending = {name for name, state in named if state == "pending"}
        return {name for name, state in named if state == "firing"}

    def _note(self, firing: set[str], now: float) -> None:
        for alert in firing - self.firing.keys():
            self.firing[alert] = now
        for alert in self.firing.keys() - firing:
            del self.firing[alert]
            self.past.append(Fired(alert, now))


def configure(folder: Path, targets: Iterable[str], scale: int) -> Path:
    """Write rules and configuration; return the configuration's path."""
    folder.mkdir(parents=True)
    (folder / "rules.yaml").write_text(scaled(RULES.read_text(), scale))
    interval_s = max(INTERVAL_S / scale, INTERVAL_MIN_S)
    interval = f"{interval_s * 1000:.0f}ms"
    configuration = folder / "prometheus.yaml"
    configuration.write_text(
        yaml.safe_dump(
            {
                "global": {
                    "scrape_interval": interval,
                    "scrape_timeout": f"{min(interval_s, TIMEOUT_S) * 1000:.0f}ms",
                    "evaluation_interval": interval,
                },
                "rule_files": ["rules.yaml"],
                "scrape_configs": [
                    {
                        "job_name": "agent-runtime-api",
                        "static_configs": [{"targets": list(targets)}],
                    }
                ],
            }
        )
    )
    return configuration


@asynccontextmanager
async def watching(
    folder: Path, targets: Iterable[str], scale: int
) -> AsyncIterator[Watch]:
    """Run a Prometheus over these targets until the block ends."""
    (port,) = free_ports(1)
    address = f"127.0.0.1:{port}"
    program = shutil.which("prometheus")
    if program is None:
        raise FileNotFoundError("prometheus is missing: it is in Debian's package")
    configuration = configure(folder, targets, scale)
    process = Process(
        [
            program,
            f"--config.file={configuration}",
            f"--storage.tsdb.path={folder / 'data'}",
            f"--web.listen-address={address}",
            f"--query.lookback-delta={LOOKBACK_S / scale:.0f}s",
            "--log.level=warn",
        ],
        folder / "log",
    )
    process.start()
    try:
        async with aiohttp.ClientSession() as http:
            watch = Watch(f"http://{address}", http)
            await until(lambda: _is_ready(watch, process))
            task = asyncio.create_task(watch.run())
            try:
                yield watch
            finally:
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
    finally:
        process.stop(timeout_s=20)


async def _is_ready(watch: Watch, process: Process) -> bool:
    if not process.is_running:
        raise RuntimeError(f"prometheus has ended: {process.log_tail()}")
    try:
        async with watch.http.get(f"{watch.url}/-/ready") as reply:
            return reply.status == 200
    except aiohttp.ClientError:
        return False
