"""The clocks of the service and of PostgreSQL jump forth and back under writes."""

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from psycopg.conninfo import make_conninfo

from tests.integration.process.clock_stage import Client, Reply, Stage, writing
from tests.support.harness.clock import TRUE_TIME, Clock, needs_faketime
from tests.support.harness.replicated_postgres import Server as Postgres
from tests.support.harness.replicated_postgres import new_folder, primary_server
from tests.support.harness.service import (
    AGENT_RUNTIME,
    agent_runtime,
    running,
    serving,
)
from tests.support.sessions.otlp.spans import export, llm, span
from tests.support.waiting import until_blocking

HOUR_S = 3600
DAY_S = 24 * HOUR_S
PROVIDERS = "/api/llm-router/providers"
SESSIONS = "/api/observability/session"


pytestmark = needs_faketime


@pytest.fixture(scope="module")
def database_clock() -> Iterator[tuple[Postgres, Clock]]:
    with new_folder("clock") as folder:
        clock = Clock(folder)
        with primary_server(words=clock.words) as postgres:
            yield postgres, clock


@pytest.fixture
def stage(
    database_clock: tuple[Postgres, Clock],
    tmp_path: Path,
) -> Iterator[Stage]:
    postgres, clock = database_clock
    clock.set(TRUE_TIME)
    name = f"jump_{uuid4().hex}"
    postgres.execute(f"CREATE DATABASE {name}")
    url = make_conninfo(postgres.url, dbname=name)
    own_clock = Clock(tmp_path)
    server = serving(
        *("--database-url", url, "--data-dir", str(tmp_path)),
        log=tmp_path / "log",
        program=(*own_clock.words, *AGENT_RUNTIME),
    )
    with running(server):
        yield Stage(
            url=url,
            folder=tmp_path,
            server=server,
            clocks={"service": own_clock, "database": clock},
        )


@dataclass(frozen=True, slots=True)
class Tokens:
    lasting: Client
    of_half_an_hour: Client
    revoked: Client


def issued(stage: Stage) -> Tokens:
    client = stage.client
    path = f"/api/users/{client.get('/api/users/me').data['id']}/tokens"
    soon = (datetime.now(UTC) + timedelta(minutes=30)).isoformat()
    replies = [
        client.post(path, {"label": "test", **more})
        for more in ({}, {"expires_at": soon}, {})
    ]
    assert {reply.status for reply in replies} == {201}
    revoked = client.call("DELETE", f"{path}/{replies[2].data['id']}")
    assert revoked.status == 200
    return Tokens(*(Client(client.url, each.data["token"]) for each in replies))


@pytest.mark.parametrize("jump_s", [HOUR_S, -HOUR_S, DAY_S, -DAY_S])
@pytest.mark.parametrize("which", ["service", "database", "both"])
def test_nothing_is_lost_or_done_twice(stage: Stage, which: str, jump_s: int) -> None:
    tokens = issued(stage)
    service_s = 0 if which == "database" else jump_s
    database_s = 0 if which == "service" else jump_s
    with writing(stage.client) as written:
        use(stage, "before", tokens)
        stage.jump(which, f"{jump_s:+d}")
        use(stage, "during", tokens, service_s=service_s, database_s=database_s)
        stage.jump(which, TRUE_TIME)
        use(stage, "after", tokens)
        # It isn't held up either.
        count = len(written)
        until_blocking(lambda: len(written) > count)

    expect_sound_log(stage)
    expect_verified(stage)
    log = (stage.folder / "log").read_text()
    assert log.count("the clock of this machine jumped") == 4 * (which != "database")
    if database_s > 0:
        until_blocking(lambda: stage.metric("agent_runtime_log_ahead_seconds") > 60)


def use(
    stage: Stage, name: str, tokens: Tokens, service_s: int = 0, database_s: int = 0
) -> None:
    """Do what callers do, with clocks that are off by so many seconds."""
    expect_tokens(tokens, service_s)
    made = expect_once(stage, name, database_s)
    # A read reflects the write.
    path = f"/api/catalog/agents/{made.data['id']}"
    found = stage.client.get(path, X_Min_Position=made.position)
    assert (found.status, found.data["name"]) == (200, f"agent of {name}")
    expect_session(stage, name, made.data["id"], service_s)
    expect_trace(stage, made.data["id"], database_s)
    last = expect_price(stage, name)
    until_blocking(lambda: is_ready(stage.client, int(last.position)))
    until_blocking(lambda: signed(stage) >= int(last.position))


def expect_tokens(tokens: Tokens, service_s: int) -> None:
    """The clock of the service decides what has expired."""
    has_expired = service_s > 30 * 60
    for client, status in (
        (tokens.lasting, 200),
        (tokens.of_half_an_hour, 401 if has_expired else 200),
        (tokens.revoked, 401),
    ):
        assert client.get("/api/users/me").status == status


def expect_once(stage: Stage, name: str, database_s: int) -> Reply:
    """A command is carried out once for each key: for 24 hours of the database."""

    def make(of: str) -> Reply:
        agent = {"name": f"agent of {of}"}
        return stage.client.post(
            "/api/catalog/agents", agent, Idempotency_Key=f"key of {of}"
        )

    for earlier, answer in stage.answers.items():
        again = make(earlier)
        is_forgotten = database_s >= DAY_S
        assert (again.status, again.is_replayed) == (201, not is_forgotten)
        assert (again.data == answer) is not is_forgotten
        stage.answers[earlier] = again.data
    made, again = make(name), make(name)
    assert (made.status, made.is_replayed, again.is_replayed) == (201, False, True)
    assert again.data == made.data
    stage.answers[name] = made.data
    return made


def expect_session(stage: Stage, name: str, agent_id: str, service_s: int) -> None:
    """The clock of the service decides what is in the future."""
    session = {"agent_id": agent_id, "session_id": f"session {name}"}
    assert stage.client.post(SESSIONS, session).status == 201
    ended = stage.client.post(f"{SESSIONS}/session%20{name}/end", {})
    assert ended.status == 200
    now = datetime.now(UTC).isoformat()
    dated = {"agent_id": agent_id, "session_id": f"dated {name}", "started_at": now}
    expected = 422 if service_s < 0 else 201
    assert stage.client.post(SESSIONS, dated).status == expected


def expect_trace(stage: Stage, agent_id: str, database_s: int) -> None:
    """A trace is put together of spans from before and after a jump."""
    if stage.trace:
        root = span(1, trace=stage.trace, session__id=f"trace {stage.trace}")
        done = stage.client.report(export(stage.traced, root).SerializeToString())
        path = f"{SESSIONS}/trace%20{stage.trace}"
        found = stage.client.get(path, X_Min_Position=done.position).data
        assert found["num_traces"] == 1
        # By the database's clock, a trace waits two hours for its other spans.
        if database_s < DAY_S:
            assert found["token_usage"]["prompt"] == 10
    stage.trace += 1
    stage.traced = agent_id
    begun = llm(2, 1, 10, 20, trace=stage.trace)
    stage.client.report(export(agent_id, begun).SerializeToString())


def expect_price(stage: Stage, name: str) -> Reply:
    """A price without a time is in effect at once, by the clock of the service."""
    stage.client.post(PROVIDERS, {"key": "acme", "display_name": "Acme"})
    price = {"provider": "acme", "model": name, "input_price_per_1m": 1}
    reply = stage.client.post("/api/llm-router/prices", price)
    assert reply.status == 201, reply.data
    found = stage.client.get(PROVIDERS, X_Min_Position=reply.position)
    models = [each["model"] for of in found.data for each in of["models"]]
    assert name in models
    return reply


def is_ready(client: Client, position: int) -> bool:
    found = client.get("/readyz").data
    return bool(
        found["status"] == "ready"
        and found["log_check"]["contradiction"] is None
        and all(each["position"] >= position for each in found["followers"])
    )


def signed(stage: Stage) -> int:
    ((size,),) = stage.execute("SELECT coalesce(max(size), 0) FROM events.checkpoint")
    return int(size)


def expect_sound_log(stage: Stage) -> None:
    """Positions are dense, and times ascend, whatever the clocks said."""
    ((count, last, going_back),) = stage.execute("""
        SELECT count(*), max(notification_id), count(*) FILTER (WHERE at < before)
          FROM (SELECT notification_id, recorded_at AS at,
                       lag(recorded_at) OVER (ORDER BY notification_id) AS before
                  FROM events.stored_event) AS e
    """)
    assert (count, going_back) == (last, 0)


def expect_verified(stage: Stage) -> None:
    """An export verifies offline with every checkpoint that was signed."""
    export = stage.folder / "export"
    url = ("--database-url", stage.url)
    run("events", *url, "--output", str(export))
    key = run("checkpoint", "--key", *url).stdout.strip()
    checkpoints = ("--checkpoint", str(stage.folder / "checkpoints"))
    done = run("verify", str(export), "--public-key", key, *checkpoints)
    assert "entries verified" in done.stdout


def run(*arguments: str) -> "subprocess.CompletedProcess[str]":
    done = agent_runtime("audit", *arguments)
    assert done.returncode == 0, done.stdout + done.stderr
    return done
