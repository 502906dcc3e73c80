"""The long form: fail over again and again under load, until there is enough.

    python -m tests.instruments.faults.failover --rounds 200 --writes 100000

Prints the seed, each fail-over with the longest time without an acknowledgement, and
in the end what was found; the exit status is 1 when anything was.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from random import Random
from statistics import median
from typing import Any

import uvloop

from tests.instruments.faults.failover.cluster import Cluster, running_cluster
from tests.instruments.faults.failover.faults import FAULTS, fail_over
from tests.instruments.faults.failover.stage import FailoverStage, set_up
from tests.instruments.faults.run import Run, check, running
from tests.instruments.faults.running_service import Cast
from tests.support.kafka.broker import Broker
from tests.support.kafka.jars import broker_libs


def main() -> int:
    options = _parser().parse_args()
    with ExitStack() as stack:
        runner = stack.enter_context(asyncio.Runner(loop_factory=uvloop.new_event_loop))
        broker = None
        if options.kafka:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="kafka-"))
            broker = Broker(broker_libs(), Path(folder))
            broker.format()
            broker.start()
            stack.callback(broker.stop)
        cluster = stack.enter_context(running_cluster())
        return runner.run(_run(options, cluster, broker))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.instruments.faults.failover",
        description=__doc__.split("\n")[0],
    )
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--rounds", type=int, default=200, help="fail-overs")
    parser.add_argument("--writes", type=int, default=100_000, help="and at least so")
    parser.add_argument("--minutes", type=float, default=180, help="but no longer")
    parser.add_argument("--clients", type=int, default=24)
    parser.add_argument(
        "--pause",
        type=float,
        default=0.2,
        help="mean seconds between two writes of a client: a load that fills the "
        "machine would be measured instead of the fail-over",
    )
    parser.add_argument("--only", help="one fault, by name, again and again")
    parser.add_argument(
        "--kafka", action="store_true", help="with a relay and a broker"
    )
    return parser


async def _run(
    options: argparse.Namespace, cluster: Cluster, broker: Broker | None
) -> int:
    _say(seed=options.seed, rounds=options.rounds, writes=options.writes)
    cast = Cast(relays=2 if broker else 0, agents=100, connectors=30, secrets=20)
    async with set_up(cluster, cast, broker=broker) as stage:
        epoch = stage.epoch()
        async with running(
            stage, seed=options.seed, clients=options.clients, pause_s=options.pause
        ) as run:
            await _strike_on(run, options)
        _say(**_summary(run), checking=True)
        with cluster.paused():
            findings = await check(run)
        if stage.epoch() != epoch:
            findings.add("the log got a new epoch, though nothing was lost")
        _say(**_summary(run), findings=findings.total)
        for each in findings:
            print(each)
    return int(findings.total > 0)


async def _strike_on(run: Run[FailoverStage], options: argparse.Namespace) -> None:
    random = Random(options.seed)
    started = time.monotonic()
    drawn = {
        fault: weight
        for fault, weight in FAULTS.items()
        if options.only in (None, fault.__name__)
    }
    rounds = 0
    while (
        rounds < options.rounds or run.load.acknowledged < options.writes
    ) and time.monotonic() - started < options.minutes * 60:
        if rounds >= options.rounds:
            await asyncio.sleep(1)
            continue
        # Each once, and then by weight.
        (fault,) = list(drawn)[rounds : rounds + 1] or random.choices(
            list(drawn), list(drawn.values())
        )
        gap_s = await fail_over(run, fault, random)
        rounds += 1
        _say(
            round=rounds,
            fault=fault.__name__,
            gap_s=round(gap_s, 1),
            acknowledged=run.load.acknowledged,
            seconds=round(time.monotonic() - started),
            load=round(os.getloadavg()[0], 1),
            findings=run.findings.total,
        )


def _summary(run: Run[FailoverStage]) -> dict[str, Any]:
    gaps = {
        name: [len(found), *(round(of(found), 1) for of in (min, median, max))]
        for name, found in run.recoveries.items()
    }
    return {
        "acknowledged": run.load.acknowledged,
        "answers": dict(run.load.counts),
        "strikes": dict(run.stage.counts),
        "slowest_answer_s": round(run.load.slowest_s, 2),
        "gaps_number_least_median_most_s": gaps,
        "surprises": len(run.load.surprises) + len(run.stage.surprises),
    }


def _say(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


if __name__ == "__main__":
    sys.exit(main())
