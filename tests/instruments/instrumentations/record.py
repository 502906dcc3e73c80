"""Record what instrumentations write: ``make recordings``.

Runs each scenario in the environment of the instrumentations, and writes its spans to
``recorded/``. Ids and times are replaced, so that a recording changes only when an
instrumentation does.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from tests.instruments.instrumentations.scenarios import SCENARIOS
from tests.support.project import ROOT

RECORDED: Final = Path(__file__).with_name("recorded")
# 2026-03-01T12:00:00Z, in nanoseconds.
NOON: Final = 1_772_366_400 * 10**9
TIMES: Final = ("startTimeUnixNano", "endTimeUnixNano")


def main(python: str, *names: str) -> None:
    RECORDED.mkdir(exist_ok=True)
    chosen = names or [each.name for each in SCENARIOS]
    with TemporaryDirectory() as folder:
        done = subprocess.run(
            [python, "-m", "tests.instruments.instrumentations.agent", folder, *chosen],
            cwd=ROOT,
            check=False,
        )
        for file in sorted(Path(folder).iterdir()):
            found = json.loads(file.read_text())
            _normalize(found["export"])
            text = json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True)
            (RECORDED / file.name).write_text(text + "\n")
    sys.exit(done.returncode)


def spans_of(export: Any) -> Iterator[dict[str, Any]]:
    """Return the spans of an export in OTLP's JSON."""
    for resource in export["resourceSpans"]:
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def _normalize(export: Any) -> None:
    spans = sorted(spans_of(export), key=lambda span: int(span["startTimeUnixNano"]))
    begin = int(spans[0]["startTimeUnixNano"])
    traces: dict[str, str] = {}
    ids: dict[str, str] = {}
    for span in spans:
        traces.setdefault(span["traceId"], f"{len(traces) + 1:032x}")
        ids.setdefault(span["spanId"], f"{len(ids) + 1:016x}")
    for span in spans:
        span["traceId"] = traces[span["traceId"]]
        span["spanId"] = ids[span["spanId"]]
        if "parentSpanId" in span:
            span["parentSpanId"] = ids[span["parentSpanId"]]
        for name in TIMES:
            span[name] = str(int(span[name]) - begin + NOON)
        for event in span.get("events", ()):
            event["timeUnixNano"] = str(int(event["timeUnixNano"]) - begin + NOON)


if __name__ == "__main__":
    main(*sys.argv[1:])
