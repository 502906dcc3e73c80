"""Record what instrumentations write: ``make recordings``.

Runs each scenario in an environment of its instrumentations, and keeps its spans beside
the provider's answers in ``recorded/``, compressed. Ids, times and ports are replaced.
"""

import json
import lzma
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.instruments.costs.instrumentations.programs import PROGRAMS, run_program
from tests.instruments.costs.instrumentations.scenarios import SCENARIOS
from tests.support.project import ROOT

RECORDED: Final = Path(__file__).with_name("recorded")
# 2026-11-20T12:00:00Z, in nanoseconds.
NOON: Final = 1_795_176_000 * 10**9
TIMES: Final = ("startTimeUnixNano", "endTimeUnixNano")
IDS: Final = ("traceId", "spanId", "parentSpanId")
PORT: Final = re.compile(r"127\.0\.0\.1:\d+")


def main(folder: str, *names: str) -> None:
    """Record scenarios with the environments in a folder; without names, all."""
    failed = 0
    with TemporaryDirectory() as temporary:
        for environment in dict.fromkeys(each.environment for each in SCENARIOS):
            chosen = [
                each.name
                for each in SCENARIOS
                if each.environment == environment and (each.name in names or not names)
            ]
            if chosen:
                python = Path(folder, environment, "bin", "python").absolute()
                run = [
                    str(python),
                    "-m",
                    "tests.instruments.costs.instrumentations.agent",
                ]
                done = subprocess.run(
                    [*run, temporary, *chosen],
                    cwd=ROOT,
                    env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
                    check=False,
                )
                failed += done.returncode
        for program in PROGRAMS:
            if program.name in names or not names:
                found = run_program(program, Path(folder))
                Path(temporary, f"{program.name}.json").write_text(json.dumps(found))
        for file in sorted(Path(temporary).iterdir()):
            keep(file.stem, json.loads(file.read_text()))
    sys.exit(failed)


def keep(name: str, recording: Any) -> None:
    """Store a recording, with ids, times and ports that don't change."""
    RECORDED.mkdir(exist_ok=True)
    for session in recording["sessions"].values():
        _normalize(session["export"])
    text = json.dumps(recording, ensure_ascii=False, sort_keys=True)
    text = PORT.sub("127.0.0.1:8000", text)
    packed = lzma.compress(text.encode(), preset=9 | lzma.PRESET_EXTREME)
    (RECORDED / f"{name}.json.xz").write_bytes(packed)


def recordings() -> list[str]:
    """Return the names of what is recorded."""
    return sorted(file.name.removesuffix(".json.xz") for file in RECORDED.iterdir())


def recording(name: str) -> Any:
    packed = (RECORDED / f"{name}.json.xz").read_bytes()
    return json.loads(lzma.decompress(packed))


def spans_of(export: Any) -> Iterator[dict[str, Any]]:
    """Return the spans of an export in OTLP's JSON."""
    for resource in export["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def _normalize(export: Any) -> None:
    spans = sorted(spans_of(export), key=lambda span: int(span["startTimeUnixNano"]))
    begin = int(spans[0]["startTimeUnixNano"])
    known: dict[str, str] = {}
    for span in spans:
        for name in IDS:
            if span.get(name):
                size = len(span[name])
                known.setdefault(span[name], f"{len(known) + 1:0{size}x}")
                span[name] = known[span[name]]
        for name in TIMES:
            span[name] = str(int(span[name]) - begin + NOON)
        for event in span.get("events", ()):
            event["timeUnixNano"] = str(int(event["timeUnixNano"]) - begin + NOON)
        for attribute in span.get("attributes", ()):
            if attribute["key"] == "server.port":
                attribute["value"] = {"intValue": "8000"}


if __name__ == "__main__":
    main(*sys.argv[1:])
