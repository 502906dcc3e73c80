"""Measure the pairs on this machine: ``python -m tests.instruments.bench``.

``--check`` is the short form for CI: fewer and smaller pairs, whose ratios must not
be more than a quarter below those in recorded.json, twice; ``--record`` writes these.
Pairs that need another server are programs of their own: relay.py (Kafka),
sessions.py (Phoenix), audit.py (a long log).
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.instruments.bench import report
from tests.instruments.bench.pairs import LIMITS, PAIRS, Pair
from tests.instruments.bench.rounds import SLOW, Figures, run
from tests.instruments.bench.stage import Size, set_up

RECORDED = Path(__file__).with_name("recorded.json")
ALLOWED_LOSS = 0.25
# What a machine of two cores measures steadily enough in a few seconds: both sides wait
# for its processor alike. The library's commands wait for the disk instead. Work for a
# request is compared by instructions.py.
SHORT = {"command against bare HTTP", "rebuild against the library"}
SHORT_SIZE = Size(sessions=50_000, sample=3_000)


def main() -> int:
    options = _options()
    is_short = options.check or options.record
    pairs = [pair for pair in PAIRS if not is_short or pair.name in SHORT]
    limits = [] if is_short else list(LIMITS)
    if options.only:
        pairs = [pair for pair in pairs if options.only in pair.name]
        limits = [limit for limit in limits if options.only in limit.name]
    size = SHORT_SIZE if is_short else Size(sessions=options.sessions)
    with set_up(size) as stage:
        figures = run(
            stage,
            rounds=options.rounds,
            seconds=options.seconds,
            pairs=pairs,
            limits=limits,
            once=() if is_short else SLOW,
            say=_say,
        )
        results = report.as_json(stage, figures, pairs, limits)
        lost = _lost(figures, pairs) if options.check else []
        if lost:
            # A machine that is shared has bad moments; a loss is there again.
            print(f"measuring again: {[pair.name for pair in lost]}", file=sys.stderr)
            again = run(
                stage,
                rounds=options.rounds * 2,
                seconds=options.seconds,
                pairs=lost,
                limits=[],
                say=_say,
            )
            lost = _lost(again, lost)
    print(report.as_markdown(figures, pairs, limits))
    if options.output is not None:
        options.output.mkdir(parents=True, exist_ok=True)
        (options.output / "results.json").write_text(json.dumps(results, indent=1))
        (options.output / "ratios.svg").write_text(report.as_svg(figures, pairs))
    ratios = {pair.name: round(figures.ratio(pair), 3) for pair in pairs}
    if options.record:
        RECORDED.write_text(json.dumps(ratios, indent=1) + "\n")
    for pair in lost:
        print(f"{pair.name}: twice more than a quarter below its recorded ratio")
    return 1 if lost else 0


def _lost(figures: Figures, pairs: Sequence[Pair]) -> list[Pair]:
    recorded = json.loads(RECORDED.read_text())
    return [
        pair
        for pair in pairs
        if figures.ratio(pair) < recorded[pair.name] * (1 - ALLOWED_LOSS)
    ]


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.instruments.bench")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=5, help="for each measure")
    parser.add_argument("--sessions", type=int, default=Size().sessions)
    parser.add_argument("--only", help="pairs and limits whose name contains this")
    parser.add_argument("--output", type=Path, help="folder for JSON and plot")
    short = parser.add_mutually_exclusive_group()
    short.add_argument("--check", action="store_true", help="the short form")
    short.add_argument("--record", action="store_true", help="record its ratios")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
