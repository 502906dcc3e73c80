"""What a tool call through the gateway costs, as ratios within one run.

Run as a program: ``python -m tests.instruments.bench.gateway``. A process of the API,
followers apart, and upstreams in processes of their own; calls of the stateless
revision. ContextForge, a peer, is installed first, and called in the newest revision it
speaks.
"""

import argparse
import asyncio
import statistics
import sys
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

import aiohttp
import uvloop

from tests.instruments.bench.contextforge import running_contextforge, tool_call
from tests.instruments.bench.gateway_stage import Stage, Target, set_up
from tests.support.harness.environment import MissingError

CALLERS: Final = 16
# Ours divided by the other one must not exceed a ceiling, or reach a floor.
CEILINGS: Final = {
    "CPU of a call, batched, against a plain upstream": 5.5,
    "CPU of a call, strict, against a plain upstream": 9.0,
}
# It answers a few calls a second.
PEER_S: Final = 10.0
PEER: Final = {
    f"rate of 16 callers, {mode}, against ContextForge": mode
    for mode in ("batched", "strict")
}
LIST: Final = "tools/list of 1,000 tools, upstreams dead, against the same bytes"
FLOORS: Final = {
    "rate of 16 callers, batched, against a plain upstream": 0.25,
    "rate of 16 callers, strict, against a plain upstream": 0.15,
    "rate of 16 callers, batched, against an SDK upstream": 0.7,
    "rate of 16 callers, strict, against an SDK upstream": 0.5,
    LIST: 0.3,
    **dict.fromkeys(PEER, 20.0),
}


@dataclass(frozen=True, slots=True)
class Measured:
    cpu_s: float
    rate: float


async def measure(each: Target, seconds: float, callers: int) -> Measured:
    """Call in a closed loop; return CPU time of a call, and calls a second."""
    done = 0

    async def caller(until: float) -> None:
        nonlocal done
        while time.perf_counter() < until:
            await each.call(http)
            done += 1

    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(connector=connector) as http:
        await asyncio.gather(*[each.call(http) for _ in range(callers)])
        before, began = each.process.cpu_times(), time.perf_counter()
        await asyncio.gather(*[caller(began + seconds) for _ in range(callers)])
        took, after = time.perf_counter() - began, each.process.cpu_times()
    cpu_s = after.user + after.system - before.user - before.system
    return Measured(cpu_s / done, done / took)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.instruments.bench.gateway")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    with ExitStack() as held:
        stage = held.enter_context(set_up())
        peer = None
        try:
            folder = stage.folder / "contextforge"
            forge = held.enter_context(running_contextforge(folder))
            peer = asyncio.run(tool_call(forge, stage.plain.url))
        except MissingError as missing:
            print(f"not compared with ContextForge: {missing}", flush=True)
        run = _ratios(stage, peer, options.rounds, options.seconds)
        ratios = uvloop.run(run)
    failed = False
    for name, values in ratios.items():
        if not values:
            continue
        ratio = statistics.median(values)
        bound = CEILINGS.get(name) or FLOORS[name]
        reached = ratio <= bound if name in CEILINGS else ratio >= bound
        failed |= not reached
        sign = "at most" if name in CEILINGS else "at least"
        spread = f"{min(values):.2f} to {max(values):.2f}"
        mark = "" if reached else "   MISSED"
        print(f"{name}: {ratio:.2f} ({spread}), {sign} {bound}{mark}", flush=True)
    sys.exit(failed)


async def _ratios(
    stage: Stage, peer: Target | None, rounds: int, seconds: float
) -> dict[str, list[float]]:
    ratios: dict[str, list[float]] = {name: [] for name in (*CEILINGS, *FLOORS)}
    for _ in range(rounds):
        one = {
            name: await measure(each, seconds, 1)
            for name, each in (("plain", stage.plain), *stage.ours.items())
        }
        many = {
            name: await measure(each, seconds, CALLERS)
            for name, each in (
                ("plain", stage.plain),
                ("sdk", stage.sdk),
                *stage.ours.items(),
            )
        }
        rates = ", ".join(f"{name} {each.rate:,.0f}" for name, each in many.items())
        print(f"calls a second of {CALLERS} callers: {rates}", flush=True)
        if peer is not None:
            theirs = await measure(peer, max(seconds, PEER_S), CALLERS)
            for name, mode in PEER.items():
                ratios[name].append(many[f"{mode}-plain"].rate / theirs.rate)
        listed = await measure(stage.tools, seconds, 1)
        bare = await measure(stage.bare_tools, seconds, 1)
        ratios[LIST].append(listed.rate / bare.rate)
        for mode in ("batched", "strict"):
            cpu = one[f"{mode}-plain"].cpu_s / one["plain"].cpu_s
            ratios[f"CPU of a call, {mode}, against a plain upstream"].append(cpu)
            for kind, called in (("plain", "a plain"), ("sdk", "an SDK")):
                rate = many[f"{mode}-{kind}"].rate / many[kind].rate
                name = f"rate of 16 callers, {mode}, against {called} upstream"
                ratios[name].append(rate)
    return ratios


if __name__ == "__main__":
    main()
