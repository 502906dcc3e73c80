"""The tour of the demo, at a terminal and without one."""

import re
import socket
import subprocess
from pathlib import Path

import pytest

from service.cli.main import main
from service.cli.running import EXIT_FAILED
from tests.support.demo_service import DemoService, demo_service
from tests.support.terminal import open_terminal
from tests.support.waiting import until_blocking

COST = re.compile(r"cost +(0\.\d+) USD for 3650 tokens of gpt-5-mini")


@pytest.mark.thorough
def test_the_tour_shows_each_decision_with_its_reason_and_the_cost(
    tmp_path: Path,
) -> None:
    with demo_service(tmp_path) as demo:
        shown = demo.run("agent-runtime tour")

        assert shown.index("ALLOWED") < shown.index("DENIED") < shown.index("ASKED")
        assert "is told: #1 The printer is out of paper" in shown
        assert "is told: unknown tool" in shown
        assert "is told: created #3" in shown
        for rule in ("'list_*' says allow", "'delete_*' says deny"):
            assert f"the rule {rule}; ben set it at position " in shown
        assert "the rule 'create_issue' says ask" in shown
        assert re.search(r"calls +3, of which 1 refused", shown)
        cost = COST.search(shown)
        assert cost
        assert float(cost[1]) > 0
        # No token is shown.
        assert demo.admin_token not in shown

        # A reader that leaves, as head does, is no error.
        assert "one URL and one token" in demo.run("agent-runtime tour | head -n 1")
        # It can be made again.
        assert re.search(r"is told: created #\d", demo.run("agent-runtime tour --yes"))
        refused = at_terminal(demo, answer="n")

    assert "do you approve it? [Y/n]" in refused
    assert "admin refused it" in refused
    assert "created" not in refused
    assert "RECORD" in refused


def at_terminal(demo: DemoService, *, answer: str) -> str:
    """Make the tour at a terminal, answer its question, and return what it showed."""
    with (
        open_terminal() as terminal,
        subprocess.Popen(
            ["agent-runtime", "tour"],
            stdin=terminal.device,
            stdout=terminal.device,
            stderr=terminal.device,
            cwd=demo.folder,
            env=demo.environment,
        ) as process,
    ):
        until_blocking(lambda: "[Y/n]" in terminal.shown or process.poll() is not None)
        terminal.type(f"{answer}\n")
        assert process.wait(60) == 0, terminal.shown
    return terminal.shown


@pytest.mark.usefixtures("logging_as_it_was")
def test_a_demo_that_does_not_run_is_named_with_its_address(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
    (tmp_path / "agent-url").write_text(f"{url}/mcp/agents/any")
    for name in ("agent-token", "admin-token"):
        (tmp_path / name).write_text("any")

    assert main(["tour", "--data-dir", str(tmp_path)]) == EXIT_FAILED
    error = capsys.readouterr().err
    assert f"can't reach {url}" in error
    assert "make serve" in error
