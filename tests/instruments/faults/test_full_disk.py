"""The disk of the embedded PostgreSQL is full: what is answered, and what comes back.

These are the two ends of docs/operations/disk.md: tables that can't grow, and a
write-ahead log that can't.
"""

import asyncio
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest

from service.embedded_postgres.server import EmbeddedPostgres
from tests.instruments.faults import disk
from tests.support.gateway.served import Answer, Api, new_session
from tests.support.harness.process import STOP_TIMEOUT_S, ProcessError
from tests.support.harness.service import Server, running, serving
from tests.support.waiting import until

pytestmark = [pytest.mark.faults, pytest.mark.timeout(600)]

MEGABYTES = 400
AGENTS = "/api/catalog/agents"
SEGMENTS_MAX = 20
DESCRIPTION = "x" * 2000


@pytest.fixture
def server(small: Path, tmp_path: Path) -> Server:
    return serving("--data-dir", str(small / "data"), log=tmp_path / "serve.log")


async def test_commands_are_refused_while_tables_cannot_grow(
    small: Path, server: Server, tmp_path: Path
) -> None:
    disk.move_wal(small / "data", tmp_path)
    with running(server):
        async with new_session() as http:
            admin = Api(http, server.url, server.admin_token)
            ids = [await registered(admin)]
            url = EmbeddedPostgres.url_of_running(small / "data")
            checkpoint(url)
            with disk.kept_full(small):
                refusal = await until(lambda: refused(admin, ids))
                # PostgreSQL makes one every few minutes. It may fail.
                with suppress(psycopg.OperationalError):
                    checkpoint(url)
                listed = await admin.call("GET", AGENTS)
                history = await admin.call("GET", "/api/audit/events")
            freed = await until(lambda: accepted(admin))

            assert refusal is not None
            assert freed is not None
            assert (refusal.status, refusal.data["code"]) == (503, "database_full")
            assert listed.status == 200
            assert (history.status, history.data["code"]) == (503, "database_full")
            assert await missing(admin, [*ids, freed]) == []


async def test_what_was_acknowledged_is_there_after_the_log_could_not_grow(
    small: Path, server: Server, tmp_path: Path
) -> None:
    server.start()
    await asyncio.to_thread(server.wait_until_ready)
    token = server.admin_token
    async with new_session() as http:
        admin = Api(http, server.url, token)
        ids = [await registered(admin) for _ in range(20)]
    with disk.kept_full(small):
        use_up_wal(EmbeddedPostgres.url_of_running(small / "data"))
        assert await asyncio.to_thread(server.wait, timeout_s=STOP_TIMEOUT_S) == 1

        again = serving("--data-dir", str(small / "data"), log=tmp_path / "again.log")
        again.start()
        with pytest.raises(ProcessError, match="No space left on device"):
            again.wait_until_ready()
        assert again.wait() == 1

    third = serving("--data-dir", str(small / "data"), log=tmp_path / "third.log")
    with running(third):
        async with new_session() as http:
            admin = Api(http, third.url, token)
            assert await missing(admin, [*ids, await registered(admin)]) == []


async def registered(admin: Api) -> str:
    answer = await admin.do("POST", AGENTS, new_agent())
    return str(answer.data["id"])


def new_agent() -> dict[str, str]:
    return {"name": "agent", "description": DESCRIPTION}


async def refused(admin: Api, ids: list[str]) -> Answer | None:
    """Register an agent; return the answer if it isn't acknowledged."""
    answer = await admin.call("POST", AGENTS, new_agent())
    if answer.status >= 300:
        return answer
    ids.append(answer.data["id"])
    return None


async def accepted(admin: Api) -> str | None:
    answer = await admin.call("POST", AGENTS, new_agent())
    return str(answer.data["id"]) if answer.status < 300 else None


async def missing(admin: Api, ids: list[str]) -> list[str]:
    answers = [await admin.call("GET", f"{AGENTS}/{each}") for each in ids]
    return [
        each for each, answer in zip(ids, answers, strict=True) if answer.status != 200
    ]


def checkpoint(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as db:
        db.execute("CHECKPOINT")


def use_up_wal(url: str) -> None:
    """Write to the end of each segment of WAL, until there is none more."""
    with suppress(psycopg.Error), psycopg.connect(url, autocommit=True) as db:
        for _ in range(SEGMENTS_MAX):
            db.execute("SELECT pg_logical_emit_message(false, 'faults', 'next')")
            db.execute("SELECT pg_switch_wal()")
