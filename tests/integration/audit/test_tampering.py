"""What the owner of the database can do to the log of a running service: who notices.

``pytest -s tests/integration/audit/test_tampering.py`` prints the table of
docs/audit.md, with the seconds that this machine needs.
"""

import asyncio
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import psycopg
import pytest

from agent_runtime_client.proofs.checkpoint import Checkpoint
from tests.support.harness.service import (
    Server,
    agent_runtime,
    audit,
    running,
    serving,
)
from tests.support.waiting import until

pytestmark = pytest.mark.thorough

OWNER = "ALTER TABLE events.stored_event DISABLE TRIGGER append_only"
CHANGE = (
    'UPDATE events.stored_event SET metadata = \'{"actor":"system"}\''
    " WHERE notification_id = 5"
)
MOVE = "UPDATE events.stored_event SET notification_id"
REWRITE_TREE = (
    "TRUNCATE events.merkle_node",
    "UPDATE events.merkle_tree SET size = 0",
    "SELECT events.grow_tree((SELECT position FROM events.head))",
)
CUT_EVENTS = """
    DELETE FROM events.stored_event e USING events.head h
     WHERE e.notification_id > h.position
"""
CUT = ("UPDATE events.head SET position = position - 3", CUT_EVENTS)
GROW = """
    WITH grown AS (
        INSERT INTO events.stored_event
        SELECT gen_random_uuid(), 1, e.topic, e.state, h.position + n,
               h.recorded_at + n * interval '1 microsecond', gen_random_uuid(),
               e.metadata
          FROM events.head h, events.stored_event e, generate_series(1, 5) AS n
         WHERE e.notification_id = 3
        RETURNING notification_id)
    UPDATE events.head SET position = (SELECT max(notification_id) FROM grown)
"""
# Without a position of the log: in no page of the trail, no export and no tree.
INSERT = """
    INSERT INTO events.stored_event
    SELECT gen_random_uuid(), 1, topic, state, -1, recorded_at, gen_random_uuid(),
           metadata
      FROM events.stored_event
     WHERE notification_id = 3
"""
AFTER_END = INSERT.replace("-1,", "(SELECT position + 5 FROM events.head),", 1)
NEW_EPOCH = "UPDATE events.head SET epoch = gen_random_uuid()"


@dataclass(frozen=True, slots=True)
class Harm:
    """What an owner does, and who notices it.

    ``noticed`` names who of a running service does, ``doctor`` the check that fails, or
    warns. ``verified`` is the exit status for an export, compared with a checkpoint
    copied before: 1 shows the harm, 2 that entries are missing. With ``deletes_file``,
    the newest checkpoint's file is deleted, too.
    """

    statements: Sequence[str]
    noticed: frozenset[str]
    doctor: str | None
    verified: int = 1
    deletes_file: bool = False


# The signer is in the process of the followers.
CONTRADICTED = 'agent_runtime_checkpoint_contradicted{process="followers"}'
DELETED = 'agent_runtime_checkpoint_deleted{process="followers"}'
AHEAD = 'agent_runtime_log_ahead_seconds{process="followers"}'
UNREADABLE = "agent_runtime_unreadable_values_total"
CHECK, FOLLOWERS, SIGNER = "the log check", "the followers", "the signer"
CLOCK, READERS, READYZ = "the log's time", "whoever reads it", "`/readyz`"
MATCH, POSITIONS = "match the Merkle tree", "have no gaps"
SIGNED, TIME, VALUES = "are signed", "ahead of the clock", "values of secrets"
LOG = frozenset({CHECK, SIGNER, READYZ})
HARMS = {
    "events are changed": Harm([CHANGE], LOG, MATCH),
    "events are deleted": Harm(
        ["DELETE FROM events.stored_event WHERE notification_id = 5"], LOG, POSITIONS
    ),
    "events are swapped": Harm(
        [
            f"{MOVE} = 1011 - notification_id WHERE notification_id IN (5, 6)",
            f"{MOVE} = notification_id - 1000 WHERE notification_id > 1000",
        ],
        LOG,
        MATCH,
    ),
    "the last events are cut": Harm(CUT, LOG | {FOLLOWERS}, MATCH),
    "others take their positions, in the same epoch": Harm(
        [*CUT, GROW], LOG | {FOLLOWERS}, MATCH
    ),
    "an event is inserted before position 1": Harm([INSERT], LOG, MATCH, verified=0),
    "an event is inserted after the log's end": Harm(
        [AFTER_END], LOG, POSITIONS, verified=0
    ),
    "the tree is emptied": Harm(REWRITE_TREE[:2], LOG, MATCH, verified=0),
    "`events.head` is moved on": Harm(
        ["UPDATE events.head SET position = position + 10"], LOG, POSITIONS, verified=2
    ),
    "the time of `events.head` is set ahead": Harm(
        ["UPDATE events.head SET recorded_at = recorded_at + interval '1 year'"],
        frozenset({CLOCK}),
        TIME,
        verified=0,
    ),
    "an event is changed, and the tree rewritten with it": Harm(
        [CHANGE, *REWRITE_TREE], frozenset({SIGNER, READYZ}), SIGNED
    ),
    "the same under a new epoch": Harm([CHANGE, NEW_EPOCH], frozenset(), None),
    "checkpoints are deleted": Harm(
        ["DELETE FROM events.checkpoint"],
        frozenset({SIGNER, READYZ}),
        SIGNED,
        verified=0,
    ),
    "checkpoints are changed": Harm(
        ["UPDATE events.checkpoint SET note = replace(note, E'\n\n', E'\nx\n\n')"],
        frozenset({SIGNER, READYZ}),
        SIGNED,
        verified=0,
    ),
    "the file of the newest one is deleted": Harm(
        [], frozenset({SIGNER, READYZ}), SIGNED, verified=0, deletes_file=True
    ),
    "sealed values are deleted": Harm(
        ["DELETE FROM events.sealed_value"], frozenset({READERS}), VALUES, verified=0
    ),
    "sealed values are changed": Harm(
        ["UPDATE events.sealed_value SET sealed = sealed || '\\x00'"],
        frozenset({READERS}),
        None,
        verified=0,
    ),
}


class Reader:
    """Reads the probes, the metrics and the checkpoint of a running service."""

    def __init__(self, server: Server, http: aiohttp.ClientSession) -> None:
        self._server, self._http = server, http

    async def create_users(self, count: int) -> None:
        for number in range(count):
            async with self._http.post(
                f"{self._server.url}/api/users",
                json={"name": f"user{number}"},
                headers=self._headers,
            ) as answer:
                assert answer.status == 201

    async def checkpoint(self) -> tuple[str, str] | None:
        """Return note and key of a checkpoint of the whole log, once there is one."""
        head = (await self._readyz())["log_position"]
        async with self._http.get(
            f"{self._server.url}/api/audit/checkpoint", headers=self._headers
        ) as answer:
            if answer.status != 200:
                return None
            note = await answer.text()
        async with self._http.get(
            f"{self._server.url}/api/audit/checkpoint/key", headers=self._headers
        ) as answer:
            key = (await answer.json())["data"]["public_key"]
        return (note, key) if Checkpoint.parse(note).size == head else None

    async def create_secret(self) -> None:
        async with self._http.post(
            f"{self._server.url}/api/secrets",
            json={"name": "TRACKER", "value": "v"},
            headers=self._headers,
        ) as answer:
            assert answer.status == 201

    async def read_secret(self) -> None:
        """Read a value, which is an event, too."""
        async with self._http.get(
            f"{self._server.url}/api/secrets/TRACKER/value", headers=self._headers
        ) as answer:
            await answer.read()

    async def noticed(self) -> frozenset[str]:
        ready = await self._readyz()
        async with self._http.get(f"{self._server.url}/metrics") as answer:
            metrics = await answer.text()
        found = {
            CHECK: (ready["log_check"] or {}).get("contradiction") is not None,
            FOLLOWERS: any(each["stopped"] for each in ready["followers"]),
            SIGNER: _value(metrics, CONTRADICTED) + _value(metrics, DELETED) > 0,
            CLOCK: _value(metrics, AHEAD) > 60,
            READERS: _value(metrics, UNREADABLE) > 0,
            READYZ: ready["status"] == "degraded",
        }
        return frozenset(name for name, is_so in found.items() if is_so)

    async def _readyz(self) -> dict[str, Any]:
        async with self._http.get(f"{self._server.url}/readyz") as answer:
            data: dict[str, Any] = (await answer.json())["data"]
            return data

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._server.admin_token}"}


def _value(metrics: str, name: str) -> float:
    found = [line for line in metrics.splitlines() if line.startswith(f"{name} ")]
    return float(found[0].split()[1]) if found else 0.0


@pytest.mark.parametrize("name", HARMS)
async def test_tampering_is_noticed(
    database_url: str, tmp_path: Path, name: str
) -> None:
    harm = HARMS[name]
    data = tmp_path / "data"
    data.mkdir(mode=0o700)
    where = ("--database-url", database_url, "--data-dir", str(data))
    with running(serving(*where, log=tmp_path / "log")) as server:
        async with aiohttp.ClientSession() as http:
            reader = Reader(server, http)
            await reader.create_users(6)
            await reader.create_secret()
            signed = await until(reader.checkpoint)
            assert signed is not None
            note, key = signed
            (tmp_path / "copied").write_text(note)
            assert await reader.noticed() == frozenset()

            with psycopg.connect(database_url) as owner:
                for statement in (OWNER, *harm.statements):
                    owner.execute(statement)
            if harm.deletes_file:
                for file in (data / "checkpoints").glob("latest.*"):
                    file.unlink()
            harmed_at = time.monotonic()
            if READERS in harm.noticed:
                await reader.read_secret()
            seconds: dict[str, float] = {}

            async def is_noticed() -> bool:
                for each in await reader.noticed():
                    seconds.setdefault(each, time.monotonic() - harmed_at)
                return seconds.keys() >= harm.noticed

            await until(is_noticed, timeout_s=120)
            doctor = await asyncio.to_thread(agent_runtime, "doctor", *where)
            export = tmp_path / "export"
            await audit("events", "--output", str(export), *where)
            verified = await audit(
                *("verify", str(export), "--public-key", key),
                *("--checkpoint", str(tmp_path / "copied")),
            )
    # Whatever it does to the entries, the auditor's own copy of a checkpoint shows it.
    assert verified.returncode == harm.verified, verified.stdout
    said = [line for line in doctor.stdout.splitlines() if line[:4] in ("FAIL", "WARN")]
    print(_row(name, seconds, said, verified.stdout))  # noqa: T201
    if harm.doctor is None:
        assert said == []
    else:
        assert any(harm.doctor in line for line in said), doctor.stdout


def _row(
    name: str, seconds: dict[str, float], doctor: Sequence[str], verified: str
) -> str:
    """Return a row of the table in docs/audit.md, with all that was said."""
    by = [f"{who} {after:.0f} s" for who, after in seconds.items() if who != READYZ]
    ready = f"{seconds[READYZ]:.0f} s" if READYZ in seconds else "-"
    says = " / ".join(line[6:].partition(":")[0] for line in doctor)
    cells = (name, ", ".join(by), ready, says, verified.splitlines()[0])
    return f"| {' | '.join(cells)} |"
