"""Fuzz one reader with atheris, guided by coverage, for as long as you like.

    pip install atheris
    python -m tests.instruments.security.fuzz rules_body -max_total_time=600

What follows the target's name is libFuzzer's. Ends with the bytes that did it when
a reader breaks a promise; see fuzz_targets.py for what these are.
"""

import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["service", "projections"]):
    from tests.instruments.security.fuzz_targets import TARGETS

from tests.instruments.security.fuzz_seeds import SEEDS


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in TARGETS:
        raise SystemExit(f"which one? {', '.join(TARGETS)}")
    name = sys.argv.pop(1)
    with tempfile.TemporaryDirectory(prefix="fuzz-") as corpus:
        for number, seed in enumerate(SEEDS[name]):
            (Path(corpus) / str(number)).write_bytes(seed)
        target = TARGETS[name]
        atheris.Setup([*sys.argv, corpus], lambda data: target(data) and None)
        atheris.Fuzz()


if __name__ == "__main__":
    main()
