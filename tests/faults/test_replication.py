"""The primary is lost while the standby lacks something: nobody was told of it."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import orjson
import pytest

from service.migrate import migrate
from service.resources import open_resources
from tests.faults.program import Program
from tests.faults.replication_bugs import REPLICATION_BUGS
from tests.faults.world import World, make_world
from tests.harness.http_connection import HttpConnection, LostError, Reply
from tests.harness.replicated_postgres import DATABASE, Replication, replicating
from tests.kafka.broker import Broker
from tests.kafka.fixtures import new_topic
from tests.waiting import until

pytestmark = [pytest.mark.faults, pytest.mark.timeout(1200)]

START_TIMEOUT_S = 300.0
ANSWER_TIMEOUT_S = 60.0
PAUSE_S = 0.1
# Many times what a follower takes to pass an event that it may pass.
NEVER_S = 5.0
CONNECTORS = "/api/mcp/connectors"
POSITION = "SELECT coalesce(max(position), 0) FROM read.position WHERE follower = '{}'"
HEAD = "SELECT position FROM events.head"
EVENTS = "SELECT topic, convert_from(state, 'UTF8') FROM events.stored_event"
WAITING = """
    SELECT pid FROM pg_stat_activity
     WHERE wait_event = 'SyncRep' AND query LIKE '%events.append(%'
"""
CANCEL = """
    SELECT pg_cancel_backend(pid) FROM pg_stat_activity
     WHERE wait_event = 'SyncRep' AND query LIKE '%events.append(%'
"""


@dataclass(slots=True)
class Stage:
    """A primary with a standby, and the processes of the service on them."""

    servers: Replication
    world: World
    programs: Sequence[Program]

    async def register(self, name: str) -> Reply:
        """Register a connector; the same name means the same Idempotency-Key."""
        body = {"name": name, "url": f"https://{name}.example/mcp", "description": ""}
        return await self._post(CONNECTORS, {"Idempotency-Key": name}, body)

    async def make_public(self) -> Reply:
        path = f"{CONNECTORS}/{self.world.connectors[0]}/grants/public"
        return await self._post(path, {}, {})

    async def _post(
        self, path: str, headers: dict[str, str], body: dict[str, str]
    ) -> Reply:
        connection = HttpConnection(self.programs[0].port)
        kind = {"Content-Type": "application/json"}
        try:
            return await connection.request(
                "POST",
                path,
                {**self.world.owner.headers, **kind, **headers},
                orjson.dumps(body) if body else b"",
                timeout_s=ANSWER_TIMEOUT_S,
            )
        finally:
            connection.close()

    async def until_registered(self, name: str) -> Reply:
        async with asyncio.timeout(ANSWER_TIMEOUT_S):
            while True:
                with contextlib.suppress(LostError):
                    reply = await self.register(name)
                    if reply.status == 201:
                        return reply
                await asyncio.sleep(PAUSE_S)

    def position(self, follower: str) -> int:
        return self._number(POSITION.format(follower))

    def head(self) -> int:
        return self._number(HEAD)

    def _number(self, statement: str) -> int:
        [[number]] = self.servers.primary.execute(statement, DATABASE)
        assert isinstance(number, int)
        return number


@asynccontextmanager
async def staged(
    folder: Path,
    *kinds: str,
    bug: str | None = None,
    options: Sequence[str] = (),
) -> AsyncIterator[Stage]:
    """Run processes of these kinds; one of the bug's kind, or a relay, has the bug."""
    with replicating() as servers:
        migrate(servers.primary.url)
        async with open_resources(servers.primary.url, folder) as resources:
            world = await make_world(resources)
        programs = [
            Program(
                kind,
                folder / f"{kind}.log",
                [
                    *("--only", kind, "--database-url", servers.url),
                    *("--data-dir", str(folder)),
                    *(options if kind == "relay" else ()),
                ],
                bug=bug if _has(kind, bug) else None,
            )
            for kind in kinds
        ]
        try:
            for each in programs:
                each.start()
            for each in programs:
                await each.ready(timeout_s=START_TIMEOUT_S)
            yield Stage(servers, world, programs)
        finally:
            for each in programs:
                if each.is_running:
                    each.kill()


def _has(kind: str, bug: str | None) -> bool:
    if bug is None:
        return False
    has = REPLICATION_BUGS[bug].kind
    return kind == has or (kind, has) == ("relay", "followers")


async def lost_acknowledgement(folder: Path, bug: str | None) -> bool:
    """Say whether a write was acknowledged, and is gone after a fail-over."""
    async with staged(folder, "api", bug=bug) as stage:
        stage.servers.standby.kill()
        reply = await stage.register("lost")
        return await _fail_over(stage, "lost.example") and reply.status == 201


async def lost_repetition(folder: Path, bug: str | None) -> bool:
    """The same, for a repeated write: the primary finds it done."""
    async with staged(folder, "api", bug=bug) as stage:
        stage.servers.standby.kill()
        replies = [await stage.make_public(), await stage.make_public()]
        assert replies[0].status == 503, replies
        is_lost = await _fail_over(stage, "connector.made_public")
        return is_lost and replies[1].status == 200


async def acknowledgement_of_a_cancelled_wait(folder: Path, bug: str | None) -> bool:
    """The same, for a wait that an operator cancels, as it blocks."""
    async with staged(folder, "api", bug=bug) as stage:
        primary = stage.servers.primary
        stage.servers.standby.kill()
        asking = asyncio.create_task(stage.register("lost"))
        await until(lambda: primary.execute(WAITING))
        primary.execute(CANCEL)
        reply = await asking
        return await _fail_over(stage, "lost.example") and reply.status == 201


async def _fail_over(stage: Stage, words: str) -> bool:
    """Promote the standby, and say whether it lacks the event with these words."""
    stage.servers.fail_over()
    events = stage.servers.standby.execute(EVENTS, DATABASE)
    return not any(words in str(event) for event in events)


async def position_passed(folder: Path, bug: str | None) -> bool:
    """Say whether a read table shows what the standby lacks."""
    async with staged(folder, "api", "followers", bug=bug) as stage:
        await stage.until_registered("kept")
        return await _passes(stage, "connectors")


async def position_published(folder: Path, bug: str | None, broker: Broker) -> bool:
    """Say whether the topic has what the standby lacks."""
    kafka = await new_topic(broker.bootstrap)
    options = ["--kafka", kafka.bootstrap, "--kafka-topic", kafka.topic]
    options += ["--kafka-replication", "1"]
    async with staged(folder, "api", "relay", bug=bug, options=options) as stage:
        await stage.until_registered("kept")
        return await _passes(stage, "relay")


async def _passes(stage: Stage, follower: str) -> bool:
    before = stage.head()
    await until(lambda: stage.position(follower) == before)
    stage.servers.standby.kill()
    assert (await stage.register("lost")).status == 503
    assert stage.head() > before, "the primary has it"
    try:
        await until(lambda: stage.position(follower) > before, timeout_s=NEVER_S)
    except TimeoutError:
        stage.servers.standby.start()
        await until(lambda: stage.position(follower) > before)
        return False
    return True


async def epoch_after_a_loss(folder: Path, bug: str | None) -> bool:
    """Say whether positions mean other events, in the same epoch."""
    async with staged(folder, "api", bug=bug) as stage:
        stage.servers.primary.set("synchronous_standby_names", "")
        stage.servers.standby.kill()
        lost = await stage.until_registered("lost")
        stage.servers.fail_over()
        other = await stage.until_registered("other")
        positions = [int(each.headers["x-event-position"]) for each in (lost, other)]
        assert positions[0] == positions[1]
        return lost.headers["x-log-epoch"] == other.headers["x-log-epoch"]


async def epoch_after_no_loss(folder: Path, bug: str | None) -> bool:
    """Say whether the epoch changes, though nothing was lost."""
    async with staged(folder, "api", bug=bug) as stage:
        before = await stage.until_registered("before")
        stage.servers.fail_over()
        after = await stage.until_registered("after")
        return before.headers["x-log-epoch"] != after.headers["x-log-epoch"]


Finds = Callable[[Path, str | None], Awaitable[bool]]
FINDS: dict[str, Finds] = {
    "settles_by_the_row_alone": lost_acknowledgement,
    "calls_it_done_before_it_is_replicated": lost_repetition,
    "ignores_cancelled_waits": acknowledgement_of_a_cancelled_wait,
    "passes_what_is_not_replicated": position_passed,
    "keeps_the_epoch": epoch_after_a_loss,
    "changes_the_epoch_always": epoch_after_no_loss,
}


@pytest.mark.parametrize("finds", list(dict.fromkeys(FINDS.values())))
async def test_nothing_is_found(finds: Finds, tmp_path: Path) -> None:
    assert not await finds(tmp_path, None)


@pytest.mark.parametrize("bug", list(REPLICATION_BUGS))
async def test_a_known_bug_is_found(bug: str, tmp_path: Path) -> None:
    assert await FINDS[bug](tmp_path, bug)


@pytest.mark.kafka
@pytest.mark.parametrize("bug", [None, "passes_what_is_not_replicated"])
async def test_what_is_published(
    own_broker: Broker, bug: str | None, tmp_path: Path
) -> None:
    assert await position_published(tmp_path, bug, own_broker) == (bug is not None)
