"""Do each alert's fault to a running service, and measure when the alert fires.

    python -m tests.instruments.alerts [--scale 1] [--only Down RelayDown]

Prints a table; the exit status is 1 when an alert didn't fire, didn't end, or another
one fired. At first clients use the healthy services, and no alert may fire.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.instruments.alerts.catalog import BUSY, FAULTS, Fault
from tests.instruments.alerts.installation import KINDS, Installation, Kind, installed
from tests.instruments.alerts.rules import RULES, alerts
from tests.support.databases import memory_folder
from tests.support.kafka.broker import Broker
from tests.support.kafka.jars import broker_libs

# How many times faster time passes for the rules than for the service.
SCALE: Final = 20
# Longer than any "for" but that of an hour, at this scale.
QUIET_S: Final = 60.0
HEAD: Final = ("alert", "`for`", "fault", "fires after", "ends after")


@dataclass(frozen=True, slots=True)
class Measured:
    """How long an alert took; None where it didn't fire, or end, in time."""

    fault: Fault
    fired_s: float | None
    ended_s: float | None

    @property
    def row(self) -> Sequence[str]:
        lasts = {each.name: each.lasts for each in alerts(RULES.read_text())}
        took = (self.fired_s, self.ended_s)
        return (
            self.fault.alert,
            lasts[f"AgentRuntime{self.fault.alert}"],
            self.fault.words,
            *("never" if each is None else f"{each:.0f}" for each in took),
        )


@dataclass(slots=True, kw_only=True)
class Run:
    scale: int
    quiet_s: float
    measured: list[Measured] = field(default_factory=list)
    surprises: list[str] = field(default_factory=list)

    @property
    def timeout_s(self) -> float:
        """More than any alert takes to fire or to end."""
        return 300 + 5000 / self.scale

    async def on(
        self, kind: Kind, folder: Path, broker: Broker | None, faults: Sequence[Fault]
    ) -> None:
        """Do faults to an installation: one after the other, the long ones beside."""
        async with installed(kind, folder, broker, scale=self.scale) as service:
            began = time.monotonic()
            await asyncio.sleep(self.quiet_s)
            fired = service.watch.fired_since(began)
            if is_busy() and BUSY in fired:
                print(f"{kind}, healthy: commits are slow on this busy machine")
                fired.remove(BUSY)
            if fired:
                self.surprise(f"{kind}, healthy: {sorted(fired)} fired")
            beside = [each for each in faults if each.beside]
            known = {BUSY, *(alert for each in beside for alert in each.expected)}
            async with asyncio.TaskGroup() as group:
                for each in beside:
                    group.create_task(self._measure(each, service))
                for each in faults:
                    if each.beside:
                        continue
                    await self._calm(each, service, known)
                    began = time.monotonic()
                    await self._measure(each, service)
                    fired = service.watch.fired_since(began) - known - each.expected
                    if fired:
                        self.surprise(f"{each.alert}: {sorted(fired)} fired")

    async def _calm(
        self, fault: Fault, service: Installation, besides: set[str]
    ) -> None:
        """Wait until nothing fires, nor is about to, before a fault is done."""
        try:
            await service.watch.calm(besides - fault.expected, self.timeout_s)
        except TimeoutError:
            early = sorted({*service.watch.firing, *service.watch.pending})
            self.surprise(f"before {fault.alert}: {early}")

    async def _measure(self, fault: Fault, service: Installation) -> None:
        alert, watch = f"AgentRuntime{fault.alert}", service.watch
        fired_s = ended_s = None
        began = time.monotonic()
        async with fault.strike(service):
            try:
                fired_s = await watch.fires(alert, self.timeout_s) - began
            except TimeoutError:
                self.surprise(f"{fault.alert}: it didn't fire")
        mended = time.monotonic()
        try:
            if fired_s is not None:
                ended = await watch.ends(alert, self.timeout_s)
                # It may end while the fault is still being mended.
                ended_s = max(ended - mended, 0)
        except TimeoutError:
            self.surprise(f"{fault.alert}: it didn't end")
        measured = Measured(fault, fired_s, ended_s)
        self.measured.append(measured)
        print(" | ".join(measured.row), flush=True)

    def surprise(self, words: str) -> None:
        self.surprises.append(words)
        print(words, flush=True)


def is_busy() -> bool:
    """Say whether the machine has more work than its processors can do."""
    return os.getloadavg()[0] > 2 * (os.cpu_count() or 1)


def main() -> int:
    options = _parser().parse_args()
    run = Run(scale=options.scale, quiet_s=options.quiet)
    faults = [each for each in FAULTS if not options.only or each.alert in options.only]
    asyncio.run(_run(run, faults))
    print(f"\nSeconds; the rules' durations are divided by {run.scale}.\n")
    rows = sorted(run.measured, key=lambda each: FAULTS.index(each.fault))
    print(f"| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}")
    for each in rows:
        print(f"| {' | '.join(each.row)} |")
    for words in run.surprises:
        print(words)
    return int(bool(run.surprises))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.instruments.alerts", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--scale", type=int, default=SCALE, help="1: as deployed")
    parser.add_argument("--quiet", type=float, default=QUIET_S, help="seconds at first")
    names = [each.alert for each in FAULTS]
    parser.add_argument("--only", nargs="+", choices=names, help="these alerts")
    return parser


async def _run(run: Run, faults: Sequence[Fault]) -> None:
    kinds = [kind for kind in KINDS if any(each.on == kind for each in faults)]
    # In memory: how long this machine's disk takes is no matter here.
    with tempfile.TemporaryDirectory(prefix="alerts-", dir=memory_folder()) as name:
        folder = Path(name)
        broker = None
        if "kafka" in kinds:
            broker = Broker(broker_libs(), folder)
            broker.format()
            broker.start()
        try:
            async with asyncio.TaskGroup() as group:
                for kind in kinds:
                    own = [each for each in faults if each.on == kind]
                    (folder / kind).mkdir()
                    group.create_task(run.on(kind, folder / kind, broker, own))
        finally:
            if broker is not None:
                broker.stop(timeout_s=10)


if __name__ == "__main__":
    sys.exit(main())
