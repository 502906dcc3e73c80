"""A service with some of its capabilities: the core alone, and the core with each."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import pytest
from aiohttp.test_utils import TestClient

from projections.catalog import run_followers, running_projectors
from service.app import create_app, operations
from service.capabilities.catalog import OPTIONAL
from service.config import DEFAULTS, Config
from service.resources import Resources
from tests.support.callers import Caller, Callers
from tests.support.configured import configured
from tests.support.harness import core_alone
from tests.support.harness.service import agent_runtime, running, serving
from tests.support.http_server import Server
from tests.support.sessions.recording import Recorder, register_agent, turn
from tests.support.waiting import until

ALL = {each.name for each in OPTIONAL}
STREAM = "text/event-stream"


def without(names: set[str]) -> Config:
    return configured(without=",".join(sorted(names)))


def with_only(name: str | None) -> Config:
    """Return the settings of the core with one capability, and what that needs."""
    needed = {need for each in OPTIONAL if each.name == name for need in each.needs}
    return without(ALL - needed - {name or ""})


@asynccontextmanager
async def serving_only(resources: Resources, config: Config) -> AsyncIterator[Callers]:
    projectors = running_projectors(config)
    async with (
        run_followers(resources.log, resources.database_url, projectors),
        TestClient(Server(create_app(resources, config))) as client,
    ):
        yield Callers(resources, client)


async def do_the_five_operations(ada: Caller) -> None:
    agent_id = await register_agent(ada)
    described = {"name": "Tracker", "url": "https://tracker.example/mcp"}
    connector_id = (await ada.post("/api/mcp/connectors", described)).data["id"]
    path = f"/api/mcp/connectors/{connector_id}"
    rules = [
        {"connector_id": connector_id, "tool_pattern": "issues.*", "stance": "allow"}
    ]
    recorder = Recorder(ada, agent_id)

    granted = await ada.put(f"{path}/grants/agents/{agent_id}")
    assert granted.status == 201
    replaced = await ada.put(f"/api/mcp/agents/{agent_id}/tools", {"rules": rules})
    assert replaced.status == 200, replaced.body
    assert (await ada.post(f"{path}/grants/public")).status == 201
    secret = {"name": "TOKEN", "value": "s3cret"}
    assert (await ada.post("/api/secrets", secret)).status == 201
    assert (await ada.put("/api/secrets/TOKEN", {"value": "other"})).status == 200
    await recorder.start("first")
    await recorder.turn("first", turn("t1", prompt_tokens=5, completion_tokens=1))
    (session,) = (await recorder.list()).data["sessions"]
    assert session["num_tool_calls"] is None
    assert (await ada.get("/api/llm-router/providers")).data == []
    one = await ada.get("/api/observability/session/first")
    assert one.data["turns"][0]["num_tool_calls"] is None
    explained = await ada.get(
        f"/api/mcp/agents/{agent_id}/tools/explain"
        f"?connector_id={connector_id}&tool=issues.list"
    )
    assert explained.data["stance"] == "allow"
    previewed = await ada.post(
        f"/api/mcp/agents/{agent_id}/tools/preview", {"rules": rules}
    )
    assert previewed.status == 200, previewed.body


async def read_everything(ada: Caller, config: Config) -> None:
    """Read what can be read without naming anything, but for endless streams."""
    headers = {"Authorization": f"Bearer {ada.token}"}
    for operation in operations(config):
        names_nothing = operation.method == "GET" and "{" not in operation.path
        if names_nothing and operation.content_type != STREAM:
            async with ada.client.get(
                operation.path, headers=headers, allow_redirects=False
            ) as answer:
                body = await answer.text()
            # What has to be named is missing, or no checkpoint is signed yet.
            assert answer.status < 500 or "no_checkpoint_yet" in body, operation


@pytest.mark.parametrize("name", [None, *sorted(ALL)])
async def test_the_core_serves_with_each_capability(
    resources: Resources, name: str | None
) -> None:
    config = with_only(name)
    async with serving_only(resources, config) as callers:
        ada = await callers.user("ada", "superuser")

        await do_the_five_operations(ada)
        await read_everything(ada, config)

        async def is_ready() -> bool:
            return (await ada.get("/readyz")).message == "ready"

        await until(is_ready)


@pytest.mark.parametrize("name", sorted(ALL))
async def test_the_document_has_what_is_served(resources: Resources, name: str) -> None:
    everything = {each.path for each in operations() if each.documented}
    config = without({name})
    served = {each.path for each in operations(config) if each.documented}
    async with serving_only(resources, config) as callers:
        caller = callers.anonymous()
        async with caller.client.get("/openapi.json") as answer:
            document = await answer.json()
        gone = await caller.get(min(everything - served, default="/api/nothing"))

    assert set(document["paths"]) == served
    assert (gone.status, gone.code) == (404, "no_such_path")
    assert gone.message == (
        f"not found in a service without {name}; GET /openapi.json lists its operations"
    )


async def test_a_process_without_the_api_names_no_document(
    resources: Resources,
) -> None:
    config = configured(only="followers", without="console")
    async with TestClient(Server(create_app(resources, config))) as client:
        callers = Callers(resources, client)
        gone = await callers.anonymous().get("/")
        document = await callers.anonymous().get("/openapi.json")

    assert (gone.status, gone.message) == (404, "not found")
    assert document.status == 404


async def test_a_follower_that_is_left_out_makes_nothing_degraded(
    resources: Resources,
) -> None:
    """It has run before, and stays where it was."""
    async with serving_only(resources, DEFAULTS) as callers:
        ada = await callers.user("ada", "superuser")
        await register_agent(ada)
    async with resources.pool.connection() as db:
        await db.execute("UPDATE read.position SET reason = 'broken'")
    async with serving_only(resources, with_only(None)) as callers:
        ada = callers.with_token(ada.token or "")
        await do_the_five_operations(ada)
        health = (await ada.get("/readyz")).data

    assert {each["name"] for each in health["followers"]}.isdisjoint(
        {"gateway", "merkle_tree"}
    )
    assert (health["status"], health["log_check"]) == ("ready", None)


async def test_what_was_left_out_catches_up(resources: Resources) -> None:
    async with serving_only(resources, with_only(None)) as callers:
        ada = await callers.user("ada", "superuser")
        await do_the_five_operations(ada)
        position = (await resources.log.head()).position
    async with serving_only(resources, DEFAULTS) as callers:
        ada = callers.with_token(ada.token or "")
        calls = await ada.get("/api/mcp/calls", X_Min_Position=str(position))
        assert (calls.status, calls.data["calls"]) == (200, [])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--without", "gatway"], "gatway can't be left out; these can: gateway,"),
        (
            ["--without", "gateway", "--gateway-hold-s", "1"],
            "AGENT_RUNTIME_GATEWAY_HOLD_S: gateway is left out by AGENT_RUNTIME_",
        ),
        (
            ["--without", "gateway,price_imports", "--demo"],
            "demo needs gateway and price_imports, which AGENT_RUNTIME_WITHOUT leaves",
        ),
        (
            ["--without", "embedded_postgres"],
            "needed, because AGENT_RUNTIME_DATABASE_URL is not set, but AGENT_RUNTIME_",
        ),
        (
            ["--without", "relay", "--only", "relay"],
            "relay is needed, because AGENT_RUNTIME_ONLY names the relay, but",
        ),
    ],
)
def test_what_contradicts_itself_is_refused_before_anything_starts(
    tmp_path: Path, options: list[str], said: str
) -> None:
    ended = agent_runtime("serve", "--data-dir", str(tmp_path / "data"), *options)

    assert ended.returncode == 78
    assert said in ended.stderr
    assert not (tmp_path / "data").exists()


def test_packages_that_are_missing_are_named(tmp_path: Path) -> None:
    ended = agent_runtime(
        *("serve", "--data-dir", str(tmp_path / "data")), program=core_alone.PROGRAM
    )

    assert ended.returncode == 78
    assert (
        "run pip install 'agent-runtime[gateway,otlp,postgres]', or set "
        "AGENT_RUNTIME_WITHOUT to gateway,otlp,model_gateway,embedded_postgres"
    ) in ended.stderr


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ["topic", "check", "--kafka", "127.0.0.1:1"],
            "aiokafka, which isn't installed",
        ),
        (["backup", "file"], "pip install 'agent-runtime[postgres]'"),
    ],
)
def test_a_command_says_which_package_it_needs(
    tmp_path: Path, command: list[str], said: str
) -> None:
    ended = agent_runtime(
        *command, "--data-dir", str(tmp_path), program=core_alone.PROGRAM
    )

    assert ended.returncode == 78
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_the_core_starts_without_the_packages_of_the_others(
    database_url: str, tmp_path: Path
) -> None:
    names = ",".join(sorted(ALL))
    server = serving(
        *("--data-dir", str(tmp_path), "--database-url", database_url),
        *("--without", names, "--only", "api,followers"),
        log=tmp_path / "log",
        program=core_alone.PROGRAM,
    )
    with running(server):
        headers = {"Authorization": f"Bearer {server.admin_token}"}
        async with aiohttp.ClientSession(server.url, headers=headers) as http:

            async def is_ready() -> bool:
                async with http.get("/readyz") as response:
                    return bool((await response.json())["message"] == "ready")

            await until(is_ready)
            async with http.post("/api/catalog/agents", json={"name": "a"}) as made:
                assert made.status == 201
            async with http.get("/api/catalog/agents") as listed:
                agents = (await listed.json())["data"]["agents"]
    assert [each["name"] for each in agents] == ["a"]
    checked = agent_runtime(
        *("doctor", "--data-dir", str(tmp_path), "--database-url", database_url),
        *("--without", names),
        program=core_alone.PROGRAM,
    )
    assert "ok    left out: console, demo, " in checked.stdout, checked.stderr
    assert "merkle_tree" not in checked.stdout
