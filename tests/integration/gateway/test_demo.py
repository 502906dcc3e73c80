"""The demo's agent calls the demo's tools, by the documented commands."""

import asyncio
import socket
from collections.abc import Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest

from service.demo.access import TOOLS_PORT_FILE
from service.demo.load import CONNECTORS
from service.demo.tool_server import SERVERS
from service.demo.tools import demo_tools
from tests.support.console.browser.service import called, tool_called
from tests.support.demo_service import DemoService, demo_service
from tests.support.gateway.try_it import check_calls
from tests.support.harness.service import running, serving
from tests.support.waiting import until_blocking

pytestmark = pytest.mark.thorough


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[DemoService]:
    with demo_service(tmp_path) as service:
        yield service


def test_the_documented_calls(demo: DemoService) -> None:
    check_calls(demo.run)


def test_every_connector_of_the_demo_works_and_nothing_warns(demo: DemoService) -> None:
    def call(path: str) -> Any:
        return called(demo.url, demo.admin_token, "GET", path)

    def tools(connector: Any) -> set[str]:
        path = f"/api/mcp/connectors/{connector['id']}/definitions"
        return {each["tool"] for each in call(path)["tools"]}

    connectors = call("/api/mcp/connectors")["connectors"]
    assert len(connectors) == len(CONNECTORS)
    until_blocking(lambda: all(map(tools, connectors)))
    listed = {each["name"]: tools(each) for each in connectors}
    assert set.union(*listed.values()) == {
        name for tools in SERVERS.values() for name in tools
    }

    # Each rule of the demo names a tool that is there.
    for agent in call("/api/catalog/agents")["agents"]:
        for rule in call(f"/api/mcp/agents/{agent['id']}/tools")["rules"]:
            name = next(
                each["name"]
                for each in connectors
                if each["id"] == rule["connector_id"]
            )
            pattern = rule["tool_pattern"]
            assert any(fnmatch(each, pattern) for each in listed[name]), pattern

    lines = (demo.folder / "log").read_text("utf-8").splitlines()
    assert [line for line in lines if '"level":"info"' not in line] == []


def test_the_agents_url_is_right_after_a_start_on_another_port(tmp_path: Path) -> None:
    file = tmp_path / "data" / "agent-url"
    with running(serving("--demo", log=tmp_path / "log", folder=tmp_path)) as first:
        path = file.read_text().removeprefix(first.url)
        assert path.startswith("/mcp/agents/")

    with running(serving("--demo", log=tmp_path / "log", folder=tmp_path)) as second:
        assert second.url != first.url
        assert file.read_text() == second.url + path
        # Its tools are there again, and allowed.
        agent_token = (tmp_path / "data/agent-token").read_text("ascii").strip()
        answer = tool_called(
            second.url, path.strip().rpartition("/")[2], agent_token, "list_issues", {}
        )
    assert not answer["result"]["isError"]


def test_the_demo_says_that_its_port_is_taken(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        (tmp_path / TOOLS_PORT_FILE).write_text(str(port))

        async def start() -> int | None:
            async with demo_tools(tmp_path) as found:
                return found

        assert asyncio.run(start()) is None
    assert f"can't listen on port {port}" in caplog.text


def test_the_first_calls_are_allowed_denied_and_asked(demo: DemoService) -> None:
    def call(method: str, path: str, body: Any = None) -> Any:
        return called(demo.url, demo.admin_token, method, path, body)

    def pending() -> Any:
        return call("GET", "/api/mcp/approvals?state=pending")["approvals"]

    def first_two() -> Any:
        calls = call("GET", "/api/mcp/calls")["calls"]
        return calls if len(calls) >= 2 else None

    calls = until_blocking(first_two)
    assert {(each["tool"], each["decision"]) for each in calls} == {
        ("list_issues", "admitted"),
        ("delete_issue", "refused"),
    }
    (asked,) = until_blocking(pending)
    assert asked["tool"] == "create_issue"
    (session_id,) = {each["session_id"] for each in calls}
    costs = f"/api/observability/session/list?session_id_prefix={session_id}"
    until_blocking(
        lambda: call("GET", costs)["sessions"][0]["cost_summary"]["total"]["cost"]
    )

    path = f"/api/mcp/agents/{asked['agent_id']}/approvals/{asked['id']}/approve"
    call("POST", path, {"reason": None})

    # The agent makes the call again, and the tool answers.
    made = until_blocking(
        lambda: call("GET", "/api/mcp/calls?outcome=ok&tool=create_issue")["calls"]
    )
    assert made[0]["approval_id"] == asked["id"]
    # They don't fill the terminal.
    assert '"route":"/mcp/' not in (demo.folder / "log").read_text("utf-8")
