"""What a model call through the gateway costs, beside LiteLLM Proxy.

Run as a program: ``python -m tests.instruments.bench.models``. In each round all are
called in turn, in alternating order: the provider directly, the gateway in both modes,
and LiteLLM, which is installed first. All figures are medians over the rounds, and
ratios those of single rounds.

Calls for a second of CPU, in closed loops, count the gateway's processes and those of
its PostgreSQL; LiteLLM has no database here, see litellm_proxy.py, so it would need
more. Time to the first byte is that of an answer's body, at a steady rate.
"""

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Final

import uvloop

from tests.instruments.bench.models.calls import (
    Caller,
    calls_per_cpu_s,
    first_byte_ms,
    warm_up,
)
from tests.instruments.bench.models.stage import (
    BATCHED,
    CASES,
    DIRECT,
    LITELLM,
    STRICT,
    TARGETS,
    Case,
    Stage,
    set_up,
)

WARM_UP_CALLS: Final = 100
CPU_RATIO_MIN: Final = {STRICT: 5.0, BATCHED: 10.0}
ADDED_P50_MS_MAX: Final = 5.0
ADDED_P99_MS_MAX: Final = 15.0


@dataclass
class Figures:
    """What every round gave, by the name of the target."""

    per_cpu_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    per_s: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    p50_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    p99_ms: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))


async def measure(
    stage: Stage, case: Case, names: Sequence[str], options: argparse.Namespace
) -> Figures:
    figures = Figures()
    callers = {
        name: Caller(stage.targets[name], case.body, case.mark) for name in names
    }
    for caller in callers.values():
        await warm_up(caller, WARM_UP_CALLS)
        await caller.open(options.callers)
    for number in range(options.rounds):
        ordered = names if number % 2 == 0 else names[::-1]
        if not options.only_delay:
            for name in ordered:
                per_cpu_s, per_s = await calls_per_cpu_s(
                    stage.targets[name],
                    callers[name],
                    callers=options.callers,
                    seconds=options.seconds,
                )
                figures.per_cpu_s[name].append(per_cpu_s)
                figures.per_s[name].append(per_s)
        if not options.only_cpu:
            for name in ordered:
                p50, p99 = await first_byte_ms(
                    callers[name], rate=options.rate, seconds=options.seconds
                )
                figures.p50_ms[name].append(p50)
                figures.p99_ms[name].append(p99)
        print(f"round {number + 1} of {options.rounds}, {load()}", flush=True)
    for caller in callers.values():
        caller.close()
    return figures


def load() -> str:
    return f"load average {os.getloadavg()[0]:.1f}"


def table(figures: Figures) -> list[str]:
    lines = [
        "| | calls a second | for a second of CPU | first byte p50 | p99 |",
        "|---|---|---|---|---|",
    ]
    for name in TARGETS:
        found = [
            f"{median(each[name]):,.{digits}f}{unit}" if each.get(name) else "-"
            for each, digits, unit in (
                (figures.per_s, 0, ""),
                ({} if name == DIRECT else figures.per_cpu_s, 0, ""),
                (figures.p50_ms, 2, " ms"),
                (figures.p99_ms, 2, " ms"),
            )
        ]
        lines.append(f"| {name} | {' | '.join(found)} |")
    return lines


def goals(figures: Figures) -> list[tuple[str, bool]]:
    """Return what each goal's figure is, and whether it is reached."""
    found = []
    for mode, least in CPU_RATIO_MIN.items():
        if figures.per_cpu_s[mode] and figures.per_cpu_s[LITELLM]:
            pairs = zip(
                figures.per_cpu_s[mode], figures.per_cpu_s[LITELLM], strict=True
            )
            ratios = [ours / theirs for ours, theirs in pairs]
            text = f"calls for a second of CPU, {mode}, against LiteLLM"
            text = f"{text}: {spread(ratios)}, at least {least:g}"
            found.append((text, median(ratios) >= least))
    for part, all_ms, most in (
        ("p50", figures.p50_ms, ADDED_P50_MS_MAX),
        ("p99", figures.p99_ms, ADDED_P99_MS_MAX),
    ):
        if not all_ms[DIRECT]:
            continue
        added = {
            name: [ms - direct for ms, direct in zip(each, all_ms[DIRECT], strict=True)]
            for name, each in all_ms.items()
            if each and name != DIRECT
        }
        theirs = median(added[LITELLM]) if LITELLM in added else float("inf")
        for name, each in added.items():
            text = f"time to the first byte, {part}, {name}: {spread(each)} ms more"
            if name == STRICT:
                text = f"{text}, at most {most:g} and less than LiteLLM's"
            is_reached = name != STRICT or median(each) <= min(most, theirs)
            found.append((text, is_reached))
    return found


def spread(values: Sequence[float]) -> str:
    return f"{median(values):.2f} ({min(values):.2f} to {max(values):.2f})"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.instruments.bench.models",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each measure")
    parser.add_argument("--callers", type=int, default=16, help="closed loops")
    parser.add_argument(
        "--rate", type=float, default=50.0, help="calls a second for delays"
    )
    parser.add_argument("--case", choices=CASES, help="by default all")
    parser.add_argument(
        "--only", choices=TARGETS, help="call one of them, for profiles"
    )
    parser.add_argument("--only-cpu", action="store_true")
    parser.add_argument("--only-delay", action="store_true")
    parser.add_argument(
        "--with-followers",
        action="store_true",
        help="run all of our service, and count its projections too",
    )
    parser.add_argument(
        "--with-tier", action="store_true", help="there is a registry of tiers"
    )
    options = parser.parse_args()
    with_peer = options.only in (None, LITELLM)
    missed = False
    with set_up(
        with_followers=options.with_followers,
        with_tier=options.with_tier,
        with_peer=with_peer,
    ) as stage:
        names = [options.only] if options.only else list(stage.targets)
        for name in names:
            pids = ", ".join(str(each.pid) for each in stage.targets[name].processes)
            print(f"{name}: processes {pids or 'not counted'}", flush=True)
        if LITELLM in names:
            print("LiteLLM has no database, which is to its advantage", flush=True)
        for case in [options.case] if options.case else CASES:
            print(f"\n{case}, {len(CASES[case].body):,} bytes, {load()}", flush=True)
            figures = uvloop.run(measure(stage, CASES[case], names, options))
            print("\n".join(table(figures)))
            for text, is_reached in goals(figures):
                missed |= not is_reached
                print(text + ("" if is_reached else "   MISSED"), flush=True)
    sys.exit(missed)


if __name__ == "__main__":
    main()
