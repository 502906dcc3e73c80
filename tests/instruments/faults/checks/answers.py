"""What the clients were told, held against the log."""

import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from tests.instruments.faults.checks import Findings
from tests.instruments.faults.checks.recorded import Command, Log
from tests.instruments.faults.history import Told


@dataclass(frozen=True, slots=True)
class Seen:
    """An aggregate's version as a client saw it made, or saw it, in an interval.

    ``first`` is the first version that the write made; None for one that only saw.
    """

    started: float
    ended: float
    version: int
    first: int | None


def check_answers(history: Iterable[Told], log: Log, findings: Findings) -> None:
    """Check every write, and then the order of those of each aggregate."""
    seen: dict[str, list[Seen]] = defaultdict(list)
    known = set()
    for told in history:
        known.add(told.number)
        commands = log.writes.get(told.number, [])
        _check_outcome(told, commands, findings)
        if commands:
            command = commands[-1]
            ended = told.ended if told.outcome == "ok" else math.inf
            seen[command.aggregate_id].append(
                Seen(told.started, ended, command.version, command.first_version)
            )
        elif (
            # Nothing to do, or a stale If-Match: the answer says what it saw.
            told.version is not None
            and told.kind != "secret"
            and told.outcome != "unknown"
            and told.attempts == 1
        ):
            seen[told.aggregate_id].append(
                Seen(told.started, told.ended, told.version, None)
            )
    for number in log.writes.keys() - known:
        findings.add(f"write {number} is in the log, and no client ever ended it")
    for aggregate_id, those in seen.items():
        check_order(aggregate_id, those, findings)


def _check_outcome(told: Told, commands: list[Command], findings: Findings) -> None:
    name = f"write {told.number} ({told.kind})"
    if len(commands) > 1:
        findings.add(f"{name} was applied {len(commands)} times")
    if told.outcome == "refused" and commands:
        findings.add(f"{name} was refused with {told.status}, and is in the log")
    if told.outcome != "ok":
        return
    if told.position is not None and commands:
        _check_answer(name, told, commands[0], findings)
    elif told.position is not None:
        findings.add(f"{name} was acknowledged, and isn't in the log")
    elif commands:
        findings.add(f"{name} was answered as nothing to do, and is in the log")
    elif told.kind in ("rules", "owner's rules", "secret"):
        findings.add(f"{name} was acknowledged without a position")


def _check_answer(name: str, told: Told, command: Command, findings: Findings) -> None:
    if command.aggregate_id != told.aggregate_id:
        findings.add(f"{name} changed {command.aggregate_id}")
    if command.position != told.position:
        findings.add(
            f"{name} was told position {told.position}, and is at {command.position}"
        )
    version = command.value_version or command.version
    if told.version != version:
        findings.add(f"{name} was told version {told.version}, and made {version}")
    if told.matched is not None and command.first_version != told.matched + 1:
        findings.add(
            f"{name} matched version {told.matched}, and made {command.first_version}"
        )


def check_order(aggregate_id: str, seen: list[Seen], findings: Findings) -> None:
    """Linearizability, in one pass: versions say which order there was.

    Whatever ended before another began must come before it; who only saw a version
    saw none that was older than any that was acknowledged before.
    """
    by_end = sorted((each for each in seen), key=lambda each: each.ended)
    begun = {each.version: each.started for each in seen if each.first is not None}
    ended, newest = 0, 0
    for each in sorted(seen, key=lambda each: each.started):
        while ended < len(by_end) and by_end[ended].ended < each.started:
            newest = max(newest, by_end[ended].version)
            ended += 1
        if each.first is not None and each.first <= newest:
            findings.add(
                f"{aggregate_id}: version {each.first} was made after {newest}"
                " had been acknowledged"
            )
        if each.first is None and each.version < newest:
            findings.add(
                f"{aggregate_id}: version {each.version} was seen after {newest}"
                " had been acknowledged"
            )
        if each.first is None and begun.get(each.version, 0) > each.ended:
            findings.add(f"{aggregate_id}: version {each.version} was seen too early")
