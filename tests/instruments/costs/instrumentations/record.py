"""Record what instrumentations write: ``make recordings``.

Runs each scenario in an environment of its instrumentations, and keeps its spans and
log records beside the provider's answers in ``recorded/``, compressed. Ids, times,
ports, and names of the machine are replaced.
"""

import json
import lzma
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import Any, Final
from uuid import UUID

from tests.instruments.costs.instrumentations.coding_agents import AGENT_ID, HOME
from tests.instruments.costs.instrumentations.programs import PROGRAMS, run_program
from tests.instruments.costs.instrumentations.scenarios import SCENARIOS
from tests.support.project import ROOT

RECORDED: Final = Path(__file__).with_name("recorded")
# 2026-11-20T12:00:00Z, in nanoseconds.
NOON: Final = 1_795_176_000 * 10**9
TIMES: Final = ("startTimeUnixNano", "endTimeUnixNano")
TIMES_OF_EVENT: Final = ("timeUnixNano",)
TIMES_OF_RECORD: Final = ("timeUnixNano", "observedTimeUnixNano")
IDS: Final = ("traceId", "spanId", "parentSpanId")
PORT: Final = re.compile(r"127\.0\.0\.1:\d+")
FOLDER: Final = re.compile(re.escape(f"{gettempdir()}/{HOME}") + r"\w+")
# Of sessions, prompts and turns, and of Claude Code's user.
RANDOM: Final = re.compile(
    r"\b(?:[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\b"
)
MACHINE: Final = {
    "host.name": {"stringValue": "host"},
    "os.version": {"stringValue": "6.1"},
}
MS: Final = 10**6


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
    text = FOLDER.sub("/home/agent", text)
    text = _with_stable_ids(text)
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
    for resource in export.get("resourceSpans", ()):
        for scope in resource["scopeSpans"]:
            yield from scope["spans"]


def records_of(export: Any) -> Iterator[dict[str, Any]]:
    """Return the log records of an export in OTLP's JSON."""
    for resource in export.get("resourceLogs", ()):
        for scope in resource["scopeLogs"]:
            yield from scope["logRecords"]


def _normalize(export: Any) -> None:
    spans = sorted(spans_of(export), key=lambda span: int(span["startTimeUnixNano"]))
    records = sorted(records_of(export), key=_time_of_record)
    begins = [int(span["startTimeUnixNano"]) for span in spans[:1]]
    begins += [_time_of_record(record) for record in records[:1]]
    # Records have their times in texts too, in milliseconds.
    begin = min(begins) // MS * MS if records else min(begins)
    by = NOON - begin
    known: dict[str, str] = {}
    for span in spans:
        _replace_ids(span, known)
        _shift(span, TIMES, by)
        for event in span.get("events", ()):
            _shift(event, TIMES_OF_EVENT, by)
        _replace_values(span, {"server.port": {"intValue": "8000"}})
    for record in records:
        _replace_ids(record, known)
        _shift(record, TIMES_OF_RECORD, by)
        for attribute in record["attributes"]:
            if attribute["key"] == "event.timestamp":
                text = _shifted(attribute["value"]["stringValue"], by)
                attribute["value"] = {"stringValue": text}
    for owner in (*export.get("resourceSpans", ()), *export.get("resourceLogs", ())):
        _replace_values(owner["resource"], MACHINE)


def _time_of_record(record: Any) -> int:
    """Return when a log record was made, or first seen if that isn't told."""
    return int(record["timeUnixNano"]) or int(record["observedTimeUnixNano"])


def _replace_ids(owner: Any, known: dict[str, str]) -> None:
    for name in IDS:
        if owner.get(name):
            size = len(owner[name])
            known.setdefault(owner[name], f"{len(known) + 1:0{size}x}")
            owner[name] = known[owner[name]]


def _replace_values(owner: Any, values: dict[str, Any]) -> None:
    for attribute in owner.get("attributes", ()):
        if attribute["key"] in values:
            attribute["value"] = values[attribute["key"]]


def _shift(owner: Any, names: tuple[str, ...], by: int) -> None:
    """Move times, but none that is 0: that means unknown."""
    for name in names:
        if int(owner[name]):
            owner[name] = str(int(owner[name]) + by)


def _shifted(text: str, by: int) -> str:
    moved = datetime.fromisoformat(text) + timedelta(milliseconds=by // MS)
    return moved.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _with_stable_ids(text: str) -> str:
    """Number random ids in the order in which they first occur."""
    known = {AGENT_ID: AGENT_ID}

    def stable(found: re.Match[str]) -> str:
        number, is_uuid = len(known), "-" in found[0]
        new = str(UUID(int=number, version=4)) if is_uuid else f"{number:064x}"
        return known.setdefault(found[0], new)

    return RANDOM.sub(stable, text)


if __name__ == "__main__":
    main(*sys.argv[1:])
