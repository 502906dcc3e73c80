"""The log as a checker reads it: which writes are in it, and where."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import orjson
import psycopg

from tests.instruments.faults.checks import Findings
from tests.instruments.faults.world import World
from tests.instruments.faults.writes import pattern

ROWS_AT_ONCE = 5000
LOG = """
    SELECT notification_id, originator_id::text, originator_version, topic, state,
           command_id, metadata ->> 'request_id', metadata ->> 'actor'
      FROM events.stored_event ORDER BY notification_id
"""


@dataclass(slots=True)
class Command:
    """The events of one command: of one aggregate, as all writes here are.

    ``value_version`` is the number of a secret's value.
    """

    position: int
    aggregate_id: str
    first_version: int
    version: int
    value_version: int | None = None


@dataclass(slots=True)
class Log:
    """``writes`` are the commands of each write's number: one, if all is well."""

    writes: dict[int, list[Command]] = field(default_factory=dict)
    positions: int = 0


@dataclass(frozen=True, slots=True)
class Entry:
    position: int
    aggregate_id: str
    version: int
    topic: str
    state: dict[str, Any]
    command_id: object
    request_id: str
    actor: str


def read_log(url: str, world: World, findings: Findings) -> Log:
    """Read the log once and check what can be seen in it alone.

    Positions and versions have no gaps; no rules of somebody who doesn't manage the
    agent were accepted without a grant of their connector; what was written is what
    that very write asked for.
    """
    log = Log()
    versions: dict[str, int] = {}
    grants: set[tuple[str, str]] = set()
    manager, last_command = str(world.manager.user_id), None
    for entry in _entries(url):
        log.positions += 1
        if entry.position != log.positions:
            findings.add(f"position {entry.position} follows {log.positions - 1}")
            log.positions = entry.position
        expected = versions.get(entry.aggregate_id, 0) + 1
        if entry.version != expected:
            findings.add(
                f"position {entry.position} has version {entry.version}, not {expected}"
            )
        versions[entry.aggregate_id] = entry.version
        _follow_grants(entry, grants)
        if entry.topic == "refusal.recorded":
            # It says that a write was refused; it is none.
            continue
        number, _, attempt = entry.request_id.partition(".")
        if not (number.isdigit() and attempt.isdigit()):
            continue
        if entry.topic == "tool_rules.replaced":
            _check_rules(entry, int(number), grants, manager, findings)
        _add(log, int(number), entry, last_command)
        last_command = entry.command_id
    return log


def _entries(url: str) -> Iterator[Entry]:
    with psycopg.connect(url) as db, db.cursor("log") as cursor:
        cursor.itersize = ROWS_AT_ONCE
        for row in cursor.execute(LOG):
            position, aggregate_id, version, topic, state, command_id, *who = row
            yield Entry(
                position=position,
                aggregate_id=aggregate_id,
                version=version,
                topic=topic,
                state=orjson.loads(state),
                command_id=command_id,
                request_id=who[0] or "",
                actor=who[1] or "",
            )


def _add(log: Log, number: int, entry: Entry, last_command: object) -> None:
    commands = log.writes.setdefault(number, [])
    if entry.command_id != last_command:
        commands.append(
            Command(entry.position, entry.aggregate_id, entry.version, entry.version)
        )
    command = commands[-1]
    command.position, command.version = entry.position, entry.version
    if entry.topic == "secret.overwritten":
        command.value_version = entry.state["version"]


def _follow_grants(entry: Entry, grants: set[tuple[str, str]]) -> None:
    if entry.topic == "connector.granted_to_agent":
        grants.add((entry.aggregate_id, entry.state["agent_id"]))
    elif entry.topic == "connector.grant_revoked":
        grants.discard((entry.aggregate_id, entry.state["agent_id"]))


def _check_rules(
    entry: Entry,
    number: int,
    grants: set[tuple[str, str]],
    manager: str,
    findings: Findings,
) -> None:
    rules = entry.state["rules"]
    patterns = [each for stances in rules.values() for each in stances]
    if patterns != [pattern(number)]:
        findings.add(f"write {number} was recorded as {patterns}")
    if entry.actor == manager:
        return
    for connector in rules:
        if (connector, entry.state["agent_id"]) not in grants:
            findings.add(
                f"position {entry.position}: rules for a connector that the agent"
                " doesn't hold were accepted from one who doesn't manage it"
            )
