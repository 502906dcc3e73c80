"""The follower process: started again when it ends, and gone with its parent."""

import asyncio
import errno
import json
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import orjson
import psutil
import pytest
from prometheus_client.parser import text_string_to_metric_families

from service import follower_process as module
from service.config import Config
from service.follower_process import run_follower_process
from tests.support.harness.process_tree import has_ended
from tests.support.harness.service import Server, running, serving
from tests.support.waiting import until

PROGRAM = "service.cli.follower_process"
WAIT_S = 240.0
# Seconds until a process that can't start is tried again.
PAUSES = [0.5, 1.0, 2.0]
# A child that is ready at once and ends with its standard input.
CHILD = "import sys; print('ready at http://[::1]:1', flush=True); sys.stdin.read()"

pytestmark = pytest.mark.timeout(600)


@pytest.fixture
def server(tmp_path: Path, database_url: str) -> Iterator[Server]:
    with running(starting(tmp_path, "--database-url", database_url)) as server:
        yield server


def starting(folder: Path, *options: str, **settings: str) -> Server:
    where = ("--data-dir", str(folder))
    return serving(*where, *options, log=folder / "log", settings=settings)


def follower_process(server: Server) -> psutil.Process | None:
    child: psutil.Process
    for child in psutil.Process(server.pid).children():
        if PROGRAM in child.cmdline():
            return child
    return None


def readiness(server: Server) -> dict[str, Any]:
    with urlopen(f"{server.url}/readyz") as reply:  # noqa: S310
        data: dict[str, Any] = json.load(reply)["data"]
        return data


def metric(server: Server, name: str, **labels: str) -> float | None:
    with urlopen(f"{server.url}/metrics") as reply:  # noqa: S310
        families = text_string_to_metric_families(reply.read().decode())
    for sample in (sample for family in families for sample in family.samples):
        if sample.name == name and sample.labels == labels:
            return sample.value
    return None


def create_agent(server: Server, name: str) -> int:
    """Create an agent, and return the position of that event."""
    request = Request(  # noqa: S310
        f"{server.url}/api/catalog/agents",
        json.dumps({"name": name}).encode(),
        {
            "Authorization": f"Bearer {server.admin_token}",
            "Content-Type": "application/json",
        },
    )
    with urlopen(request) as reply:  # noqa: S310
        return int(reply.headers["X-Event-Position"])


def are_projected(server: Server, position: int) -> bool:
    followers = readiness(server)["followers"]
    return all(each["position"] >= position for each in followers)


def log_lines(folder: Path) -> list[dict[str, Any]]:
    """Return the log's lines without what a refused start prints."""
    lines = (folder / "log").read_bytes().splitlines()
    return [orjson.loads(line) for line in lines if line.startswith(b"{")]


async def test_a_killed_follower_process_is_started_again_and_continues(
    server: Server, tmp_path: Path
) -> None:
    first = follower_process(server)
    assert first is not None
    assert readiness(server)["follower_process"] == "running"

    first.kill()
    position = create_agent(server, "written while nothing is projected")

    await until(lambda: are_projected(server, position), timeout_s=WAIT_S)
    second = follower_process(server)
    assert second is not None
    assert second.pid != first.pid
    await until(lambda: readiness(server)["status"] == "ready", timeout_s=WAIT_S)
    assert metric(server, "agent_runtime_relay_up") is None, "there is no relay"
    lines = log_lines(tmp_path)
    (ended,) = (line for line in lines if "process has ended" in line["message"])
    assert (ended["level"], ended["status"]) == ("error", -signal.SIGKILL)


@pytest.mark.thorough
async def test_metrics_of_both_processes_have_one_address(server: Server) -> None:
    position = create_agent(server, "a")
    await until(lambda: are_projected(server, position), timeout_s=WAIT_S)
    users = {"follower": "users", "process": "followers"}

    up = "agent_runtime_follower_process_up"
    assert metric(server, up, child="followers") == 1
    assert metric(server, "agent_runtime_follower_position", **users) == position
    started = "process_start_time_seconds"
    times = {metric(server, started), metric(server, started, process="followers")}
    assert len(times - {None}) == 2


@pytest.mark.thorough
async def test_a_frozen_follower_process_counts_as_down(server: Server) -> None:
    child = follower_process(server)
    assert child is not None
    up = "agent_runtime_follower_process_up"
    child.suspend()
    await until(lambda: metric(server, up, child="followers") == 0, timeout_s=WAIT_S)

    child.resume()

    await until(lambda: metric(server, up, child="followers") == 1, timeout_s=WAIT_S)


@pytest.mark.thorough
async def test_the_follower_process_ends_with_its_parent(
    tmp_path: Path, database_url: str
) -> None:
    server = starting(tmp_path, "--database-url", database_url)
    with running(server):
        child = follower_process(server)
        assert child is not None

        # A signal that it doesn't handle; SIGHUP would be ignored under nohup.
        server.send(signal.SIGUSR1)
        server.wait()

        await until(lambda: has_ended(child.pid), timeout_s=WAIT_S)


@pytest.mark.thorough
async def test_it_ends_with_its_parent_and_the_embedded_database(
    tmp_path: Path,
) -> None:
    with running(starting(tmp_path)) as server:
        processes = psutil.Process(server.pid).children(recursive=True)
        assert any(PROGRAM in each.cmdline() for each in processes)
        assert any("postgres" in each.name() for each in processes)

        server.kill()

        for each in processes:
            await until(partial(has_ended, each.pid), timeout_s=WAIT_S)


def test_both_processes_stop_in_order_at_a_signal(
    tmp_path: Path, database_url: str
) -> None:
    with running(starting(tmp_path, "--database-url", database_url)) as server:
        child = follower_process(server)
        assert child is not None
        assert server.stop() == 0
        assert has_ended(child.pid)

    lines = sorted(log_lines(tmp_path), key=lambda line: str(line["time"]))
    stops = [line for line in lines if line["message"] == "stopping"]
    assert [line.get("process") for line in stops] == [None, "followers"]
    assert not any(line["level"] == "error" for line in log_lines(tmp_path))


@pytest.mark.thorough
async def test_a_follower_process_that_cannot_start_is_tried_ever_more_slowly(
    tmp_path: Path, database_url: str
) -> None:
    # A directory where a file has to be: only the follower process reads that.
    (tmp_path / "checkpoint-key.pem").mkdir()
    with running(starting(tmp_path, "--database-url", database_url)) as server:
        at_first = readiness(server)
        await until(
            lambda: len(pauses(tmp_path)) >= len(PAUSES), timeout_s=WAIT_S, step_s=0.1
        )
        assert create_agent(server, "commands are accepted") > 0

        assert (at_first["status"], at_first["follower_process"]) == (
            "degraded",
            "ended",
        )
        assert pauses(tmp_path)[: len(PAUSES)] == PAUSES

        os.rmdir(tmp_path / "checkpoint-key.pem")  # noqa: PTH106
        await until(lambda: readiness(server)["status"] == "ready", timeout_s=WAIT_S)


async def test_a_follower_process_that_the_system_cannot_start_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    start = asyncio.create_subprocess_exec
    children: list[Process] = []
    failures = [OSError(errno.EMFILE, "Too many open files")]

    async def start_unless_failing(*arguments: Any, **options: Any) -> Process:
        if children and failures:
            raise failures.pop()
        children.append(await start(*arguments, **options))
        return children[-1]

    monkeypatch.setattr(module, "COMMAND", (sys.executable, "-c", CHILD))
    monkeypatch.setattr(asyncio, "create_subprocess_exec", start_unless_failing)
    async with run_follower_process(
        Config.read({}, {}).of_follower_process("postgresql://unused")
    ) as process:
        await until(lambda: process.state == "running", timeout_s=WAIT_S)

        children[0].kill()

        await until(lambda: len(children) == 2, timeout_s=WAIT_S)
        await until(lambda: process.state == "running", timeout_s=WAIT_S)
    said = [vars(line) for line in caplog.records if line.name == module.logger.name]
    assert [line.get("reason") for line in said] == [None, "Too many open files", None]
    assert [line.get("status") for line in said] == [-signal.SIGKILL, None, None]
    assert [child.returncode for child in children] == [-signal.SIGKILL, 0]


def pauses(folder: Path) -> list[float]:
    lines = log_lines(folder)
    return [line["after_s"] for line in lines if "has ended" in line["message"]]


@pytest.mark.thorough
async def test_one_process_runs_everything_if_it_is_told_to(
    tmp_path: Path, database_url: str
) -> None:
    options = ("--database-url", database_url, "--only", "api,followers")
    with running(starting(tmp_path, *options)) as server:
        position = create_agent(server, "a")
        await until(lambda: are_projected(server, position), timeout_s=WAIT_S)

        assert follower_process(server) is None
        assert readiness(server)["follower_process"] is None
        assert metric(server, "agent_runtime_follower_position", follower="users")
