"""The long form: write, and do harm drawn from a seed, until enough is enough.

    python -m tests.instruments.faults --seed 1 --writes 1000000 --minutes 60

Prints the seed, each fault as it strikes, and in the end what was found; the exit
status is 1 when anything was. The same seed draws the same faults in the same
order; what they hit depends on the moment.
"""

import argparse
import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

import uvloop

from tests.instruments.faults.catalog import faults
from tests.instruments.faults.run import Run, check, running
from tests.instruments.faults.stage import Cast, Stage, set_up
from tests.support.kafka.broker import Broker
from tests.support.kafka.jars import broker_libs

PROGRESS_S = 30.0
STRIKE_PAUSE_MAX_S = 2.0


def main() -> int:
    options = _parser().parse_args()
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        if not options.kafka:
            return runner.run(_run(options, None))
        with tempfile.TemporaryDirectory(prefix="faults-kafka-") as folder:
            broker = Broker(broker_libs(), Path(folder))
            broker.format()
            broker.start()
            try:
                return runner.run(_run(options, broker))
            finally:
                broker.stop()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m tests.instruments.faults", description=__doc__.split("\n")[0]
    )
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--writes", type=int, default=1_000_000)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--only", help="one fault, by name, again and again")
    parser.add_argument("--clients", type=int, default=64)
    parser.add_argument("--agents", type=int, default=400)
    parser.add_argument("--every", type=float, default=STRIKE_PAUSE_MAX_S)
    parser.add_argument("--apis", type=int, default=2)
    parser.add_argument("--kafka", action="store_true", help="with relays and a broker")
    parser.add_argument("--keep", type=Path, help="folder for the history")
    return parser


async def _run(options: argparse.Namespace, broker: Broker | None) -> int:
    _say(seed=options.seed, writes=options.writes, minutes=options.minutes)
    started = time.monotonic()
    cast = Cast(
        apis=options.apis,
        relays=2 if broker else 0,
        agents=options.agents,
        connectors=max(3, options.agents // 3),
        secrets=max(6, options.agents // 5),
    )
    async with set_up(cast, broker=broker) as stage:
        async with running(stage, seed=options.seed, clients=options.clients) as run:
            await _strike_on(run, options, started)
        _say(**_summary(run, started), checking=True)
        findings = await check(run)
        _say(**_summary(run, started), findings=findings.total)
        for each in findings:
            print(each)
        if options.keep:
            _keep(options.keep, stage)
    return int(findings.total > 0)


async def _strike_on(
    run: Run[Stage], options: argparse.Namespace, started: float
) -> None:
    drawn = faults(with_kafka=run.stage.kafka is not None, only=options.only)
    random = Random(options.seed)
    told = 0.0
    while (
        run.load.acknowledged < options.writes
        and time.monotonic() - started < options.minutes * 60
    ):
        (fault,) = random.choices(list(drawn), list(drawn.values()))
        await run.strike(fault)
        await asyncio.sleep(random.uniform(0, options.every))
        if time.monotonic() - told > PROGRESS_S:
            told = time.monotonic()
            _say(**_summary(run, started))


def _summary(run: Run[Stage], started: float) -> dict[str, Any]:
    strikes = run.stage.counts
    longest = {name: round(max(each), 2) for name, each in run.recoveries.items()}
    return {
        "seconds": round(time.monotonic() - started),
        "acknowledged": run.load.acknowledged,
        "answers": dict(run.load.counts),
        "kills": sum(n for name, n in strikes.items() if name.startswith("kill")),
        "strikes": dict(strikes.most_common()),
        "slowest_answer_s": round(run.load.slowest_s, 2),
        "longest_recovery_s": longest,
        "surprises": len(run.load.surprises) + len(run.stage.surprises),
    }


def _say(**fields: Any) -> None:
    print(json.dumps(fields), flush=True)


def _keep(folder: Path, stage: Stage) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    history = stage.folder / "history.jsonl"
    (folder / "history.jsonl").write_bytes(history.read_bytes())
    for log in (stage.folder / "logs").iterdir():
        (folder / log.name).write_bytes(log.read_bytes()[-1_000_000:])


if __name__ == "__main__":
    sys.exit(main())
