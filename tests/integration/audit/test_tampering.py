"""What the owner of the database can do to the log of a running service: who notices.

``pytest -s tests/integration/audit/test_tampering.py`` prints the table of
docs/audit.md, with the seconds that this machine needs.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import psycopg
import pytest

from agent_runtime_client.proofs.checkpoint import Checkpoint
from tests.support.harness.service import Server, audit, running, serving
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
NEW_EPOCH = "UPDATE events.head SET epoch = gen_random_uuid()"


@dataclass(frozen=True, slots=True)
class Harm:
    """``noticed`` names who of a running service notices it.

    ``shown`` is whether an export, compared with a checkpoint copied before, shows it.
    """

    statements: Sequence[str]
    noticed: frozenset[str]
    shown: bool = True


# The signer is in the process of the followers.
CONTRADICTED = 'agent_runtime_checkpoint_contradicted{process="followers"}'
CHECK, FOLLOWERS, SIGNER = "the log check", "the followers", "the signer"
HARMS = {
    "change": Harm([CHANGE], frozenset({CHECK, SIGNER})),
    "delete": Harm(
        ["DELETE FROM events.stored_event WHERE notification_id = 5"],
        frozenset({CHECK, SIGNER}),
    ),
    "swap": Harm(
        [
            f"{MOVE} = 1011 - notification_id WHERE notification_id IN (5, 6)",
            f"{MOVE} = notification_id - 1000 WHERE notification_id > 1000",
        ],
        frozenset({CHECK, SIGNER}),
    ),
    "cut": Harm(CUT, frozenset({CHECK, SIGNER, FOLLOWERS})),
    "cut and grow": Harm([*CUT, GROW], frozenset({CHECK, SIGNER, FOLLOWERS})),
    "insert before the first": Harm([INSERT], frozenset({CHECK, SIGNER}), shown=False),
    "rewrite, with the tree": Harm([CHANGE, *REWRITE_TREE], frozenset({SIGNER})),
    "rewrite, under a new epoch": Harm([CHANGE, NEW_EPOCH], frozenset()),
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

    async def noticed(self) -> frozenset[str]:
        ready = await self._readyz()
        async with self._http.get(f"{self._server.url}/metrics") as answer:
            metrics = await answer.text()
        found = {
            CHECK: (ready["log_check"] or {}).get("contradiction") is not None,
            FOLLOWERS: any(each["stopped"] for each in ready["followers"]),
            SIGNER: f"{CONTRADICTED} 1.0" in metrics,
        }
        return frozenset(name for name, is_so in found.items() if is_so)

    async def _readyz(self) -> dict[str, Any]:
        async with self._http.get(f"{self._server.url}/readyz") as answer:
            data: dict[str, Any] = (await answer.json())["data"]
            return data

    @property
    def _headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self._server.admin_token}"}


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
            signed = await until(reader.checkpoint)
            assert signed is not None
            note, key = signed
            (tmp_path / "copied").write_text(note)

            with psycopg.connect(database_url) as owner:
                for statement in (OWNER, *harm.statements):
                    owner.execute(statement)
            harmed_at = time.monotonic()
            seconds: dict[str, float] = {}

            async def is_noticed() -> bool:
                for each in await reader.noticed():
                    seconds.setdefault(each, time.monotonic() - harmed_at)
                return seconds.keys() >= harm.noticed

            await until(is_noticed, timeout_s=120)
            export = tmp_path / "export"
            await audit("events", "--output", str(export), *where)
            verified = await audit(
                *("verify", str(export), "--public-key", key),
                *("--checkpoint", str(tmp_path / "copied")),
            )
    # Whatever it does to the entries, the auditor's own copy of a checkpoint shows it.
    assert verified.returncode == int(harm.shown), verified.stdout
    noticed = ", ".join(f"{who} {after:.0f} s" for who, after in seconds.items())
    print(f"| {name} | {noticed} | {verified.stdout.splitlines()[0]} |")  # noqa: T201
