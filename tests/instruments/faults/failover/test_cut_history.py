"""An operator makes a standby the primary that lacks acknowledged commands.

Patroni never does that by itself. Everybody who saw what is lost has to be told, which
the new epoch of the log does.
"""

import asyncio
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import psycopg
import pytest

from agent_runtime_client.kafka import Event, consume
from agent_runtime_client.kafka.errors import TopicRefusedError
from tests.instruments.faults.checks import Findings
from tests.instruments.faults.checks.tables import check_tables, until_caught_up
from tests.instruments.faults.checks.topic import check_topic
from tests.instruments.faults.failover.cluster import FOLLOWS, Cluster
from tests.instruments.faults.failover.faults import FAILOVER_TIMEOUT_S, WHOLE_TIMEOUT_S
from tests.instruments.faults.failover.machine import Machine
from tests.instruments.faults.failover.stage import STEP_S, FailoverStage, set_up
from tests.instruments.faults.history import read_history
from tests.instruments.faults.run import running
from tests.instruments.faults.running_service import Cast, relay
from tests.support.harness.http_connection import HttpConnection, Reply
from tests.support.harness.service import agent_runtime
from tests.support.kafka.broker import Broker
from tests.support.kafka.reading import read_all
from tests.support.waiting import until

pytestmark = [pytest.mark.faults, pytest.mark.kafka, pytest.mark.timeout(2400)]

PAUSE_S = 0.1
SOME = 60
TIMEOUT_S = 300.0
CHANGES = "SELECT epoch, old_epoch, position, reason FROM events.epoch_change"
WHY_THE_RELAY_STOPPED = "SELECT reason FROM read.position WHERE follower = 'relay'"


@dataclass(frozen=True, slots=True)
class Lost:
    """The end of a history: ``last`` is the last position that was acknowledged."""

    epoch: UUID
    last: int


async def test_an_operator_who_cuts_the_history_begins_an_epoch(
    cluster: Cluster, frail_broker: Broker
) -> None:
    cast = Cast(followers=1, relays=1)
    async with set_up(cluster, cast, broker=frail_broker) as stage:
        lost = await lose_history(stage)
        await until(lambda: stage.epoch() != lost.epoch, timeout_s=TIMEOUT_S)
        cut = expect_one_change(stage, lost)

        for port in stage.ports:
            await expect_positions_to_be_refused(stage, port, lost)
        await expect_positions_in_the_new_epoch(stage, lost)
        await expect_the_topic_to_be_refused_until_published_again(stage, lost)
        await expect_the_audit_to_name_the_cut(stage, lost, cut)
        await expect_tables_to_be_the_log(stage)


async def lose_history(stage: FailoverStage) -> Lost:
    """Force a standby that lacks what is acknowledged, as the runbook says."""
    cluster, epoch = stage.cluster, stage.epoch()
    primary = await stage.primary()
    behind, ahead = (each for each in cluster.machines if each is not primary)
    async with running(stage, seed=7, pause_s=PAUSE_S) as run:
        await run.load.until_acknowledged(SOME, timeout_s=TIMEOUT_S)
        behind.kill()
        await run.load.until_acknowledged(SOME, timeout_s=TIMEOUT_S)
    assert run.findings == []
    told = read_history(run.load.history.file)
    last = max(each.position or 0 for each in told if each.outcome == "ok")
    await until_seen_by_all(stage, last)

    ahead.kill()
    primary.kill()
    behind.start()
    await until(
        lambda: asyncio.to_thread(_waits_for_a_leader, cluster, behind),
        timeout_s=FAILOVER_TIMEOUT_S * stage.slowness,
        step_s=STEP_S,
    )
    cluster.patronictl("failover", "--candidate", behind.name, "--force")
    for each in (primary, ahead):
        each.start()
    await stage.recover(timeout_s=WHOLE_TIMEOUT_S * stage.slowness)
    assert await stage.primary() is behind
    return Lost(epoch, last)


def _waits_for_a_leader(cluster: Cluster, machine: Machine) -> bool:
    members = {each["name"]: each for each in cluster.members()}
    return (
        all(each["role"] != "leader" for each in members.values())
        and members.get(machine.name, {}).get("state") in FOLLOWS
    )


async def until_seen_by_all(stage: FailoverStage, position: int) -> None:
    """Wait until APIs and read tables, topic and checkpoints have a position."""
    findings = Findings()
    await until_caught_up(stage.url, findings, timeout_s=TIMEOUT_S)
    await check_topic(stage, findings, timeout_s=TIMEOUT_S)
    assert findings == []
    for port in stage.ports:
        await until(
            lambda port=port: is_durable(port, position),  # type: ignore[misc]
            timeout_s=TIMEOUT_S,
        )
    newest = stage.data / "checkpoints" / f"latest.{stage.epoch()}"
    await until(
        lambda: newest.exists() and int(newest.read_text().splitlines()[1]) >= position,
        timeout_s=TIMEOUT_S,
    )


async def is_durable(port: int, position: int) -> bool:
    metrics = (await ask(port, "/metrics", {})).body.decode()
    name = "agent_runtime_durable_position "
    lines = [line for line in metrics.splitlines() if line.startswith(name)]
    return bool(lines) and float(lines[0].removeprefix(name)) >= position


def expect_one_change(stage: FailoverStage, lost: Lost) -> int:
    """Return the last position that both epochs share."""
    with psycopg.connect(stage.url) as db:
        ((new, old, cut, reason),) = db.execute(CHANGES).fetchall()
    assert (new, old, reason) == (stage.epoch(), lost.epoch, "fail_over")
    assert cut < lost.last
    return int(cut)


async def expect_positions_to_be_refused(
    stage: FailoverStage, port: int, lost: Lost
) -> None:
    """As docs/api.md says: of a client's positions, a cursor, and without an epoch."""
    caller = stage.world.root.headers
    old = caller | {"X-Log-Epoch": str(lost.epoch)}
    lists = "/api/mcp/connectors"

    by_position = await ask(port, lists, old | {"X-Min-Position": str(lost.last)})
    by_cursor = await ask(port, f"/api/audit/events?after={lost.last}", old)
    without_epoch = await ask(port, lists, caller | {"X-Min-Position": str(lost.last)})

    for reply in (by_position, by_cursor):
        assert (reply.status, code(reply)) == (409, "log_epoch_changed")
        assert reply.headers["x-log-epoch"] == str(stage.epoch())
    assert (without_epoch.status, code(without_epoch)) == (412, "position_beyond_log")


async def expect_positions_in_the_new_epoch(stage: FailoverStage, lost: Lost) -> None:
    """Write: positions are given again, and the answer says of which epoch."""
    agent, connector = stage.world.agents[0], stage.world.connectors[0]
    rule = {"connector_id": str(connector), "tool_pattern": "new", "stance": "ask"}
    written = await ask(
        stage.ports[0],
        f"/api/mcp/agents/{agent}/tools",
        stage.world.manager.headers | {"Content-Type": "application/json"},
        method="PUT",
        body=orjson.dumps({"rules": [rule]}),
    )
    assert written.status == 200, written.body
    assert int(written.headers["x-event-position"]) <= lost.last
    assert written.headers["x-log-epoch"] == str(stage.epoch())


async def expect_the_topic_to_be_refused_until_published_again(
    stage: FailoverStage, lost: Lost
) -> None:
    kafka = stage.kafka
    assert kafka is not None
    old = read_all(kafka.bootstrap, kafka.topic)
    assert max(each.position for each in old) >= lost.last
    assert epochs_of(old) == {str(lost.epoch)}
    with psycopg.connect(stage.url, autocommit=True) as db:
        await until(
            lambda: "LogEpochChangedError" in why_the_relay_stopped(db),
            timeout_s=TIMEOUT_S,
        )
    seen = await events_of(kafka.bootstrap, kafka.topic, len(old))

    other = replace(kafka, topic=f"{kafka.topic}.v2")
    done = agent_runtime(
        *("topic", "republish", other.topic, "--database-url", stage.url),
        *("--data-dir", str(stage.data), "--kafka", kafka.bootstrap),
        *("--kafka-topic", kafka.topic, "--kafka-replication", "1"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for each in stage.relays:
        each.kill()
    stage.kafka, stage.relays = other, []
    stage.relays.append(relay(stage, len(stage.relays)))
    stage.relays[0].start()
    await stage.relays[0].ready(timeout_s=TIMEOUT_S)

    findings = Findings()
    await check_topic(stage, findings, timeout_s=TIMEOUT_S)
    assert findings == []
    new = read_all(kafka.bootstrap, other.topic)
    assert epochs_of(new) == {str(stage.epoch())}
    positions = {each.stored.partition: each.stored for each in seen}
    with pytest.raises(TopicRefusedError):
        async with consume(kafka.bootstrap, other.topic, [*positions.values()]):
            pass


def why_the_relay_stopped(db: psycopg.Connection) -> str:
    row = db.execute(WHY_THE_RELAY_STOPPED).fetchone()
    return str(row[0]) if row else ""


async def events_of(bootstrap: str, topic: str, count: int) -> list[Event]:
    found: list[Event] = []
    async with consume(bootstrap, topic) as events, asyncio.timeout(TIMEOUT_S):
        async for event in events:
            found.append(event)
            if len(found) == count:
                break
    return found


def epochs_of(records: list[Any]) -> set[str]:
    return {each.headers["ce_logepoch"].decode() for each in records}


async def expect_the_audit_to_name_the_cut(
    stage: FailoverStage, lost: Lost, cut: int
) -> None:
    """Verify an export with every checkpoint of both epochs."""
    checkpoints = stage.data / "checkpoints"
    newest = checkpoints / f"latest.{stage.epoch()}"
    await until(newest.exists, timeout_s=TIMEOUT_S)
    where = ("--database-url", stage.url, "--data-dir", str(stage.data))
    export = stage.folder / "export.jsonl"

    def verified() -> str:
        done = agent_runtime("audit", "events", "--output", str(export), *where)
        assert done.returncode == 0, done.stdout + done.stderr
        key: Path = checkpoints / f"public-key.{stage.epoch()}"
        return agent_runtime(
            *("audit", "verify", str(export), "--public-key", str(key)),
            *("--checkpoint", str(checkpoints), *where),
        ).stdout

    said = await asyncio.to_thread(verified)

    explained = f"a fail-over changed the epoch after position {cut}, as entry "
    assert explained in said, said
    assert str(lost.epoch) in said


async def expect_tables_to_be_the_log(stage: FailoverStage) -> None:
    findings = Findings()
    await until_caught_up(stage.url, findings, timeout_s=TIMEOUT_S)
    for each in stage.followers:
        each.kill()
    await check_tables(stage.url, findings)
    assert findings == []


async def ask(
    port: int,
    path: str,
    headers: dict[str, str],
    *,
    method: str = "GET",
    body: bytes = b"",
) -> Reply:
    connection = HttpConnection(port)
    try:
        return await connection.request(method, path, headers, body, timeout_s=30)
    finally:
        connection.close()


def code(reply: Reply) -> str:
    return str(orjson.loads(reply.body)["data"]["code"])
