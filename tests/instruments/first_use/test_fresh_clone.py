"""A new user's first commands, in a fresh clone: on a terminal and in a pipe.

The clone has what is committed, installs its packages, and serves on a free port.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from shutil import rmtree

import pytest

from tests.support import readme, walkthrough
from tests.support.demo_service import DemoService, with_curl
from tests.support.gateway import try_it
from tests.support.harness.process import ending_with_parent, free_ports
from tests.support.harness.service import own_environment
from tests.support.project import ROOT
from tests.support.terminal import open_terminal
from tests.support.waiting import until_blocking

pytestmark = pytest.mark.thorough

# Installing packages takes minutes.
START_TIMEOUT_S = 900.0
STOP_TIMEOUT_S = 60.0
# The line that make serve ends with.
LAST_LINE = "API reference: "


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("first") / "use"
    subprocess.run(["git", "clone", "--quiet", ROOT, folder], check=True)
    return folder


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    # The clone's commands are named by their paths, so that ours are no help.
    ours = own_environment()
    for name in ("PYTHONPATH", "VIRTUAL_ENV", "MAKEFLAGS"):
        ours.pop(name, None)
    return with_curl(ours, tmp_path_factory.mktemp("curl"))


@contextmanager
def started(
    clone: Path, environment: dict[str, str], *, on_terminal: bool
) -> Iterator[tuple[str, Callable[[], str]]]:
    """Run ``make serve`` until Ctrl-C; give its URL and what it has shown up to now."""
    (port,) = free_ports(1)
    url = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        if on_terminal:
            terminal = stack.enter_context(open_terminal())
            output, shown = terminal.device, lambda: terminal.shown
        else:
            log = clone.parent / f"serve-{port}.log"
            output = stack.enter_context(log.open("wb")).fileno()
            shown = log.read_text
        command = ["make", "serve", f"PORT={port}", f"PYTHON={sys.executable}"]
        with subprocess.Popen(
            [*ending_with_parent(), *command],
            stdin=output if on_terminal else subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=clone,
            env=environment,
            start_new_session=True,
        ) as make:
            try:
                until_blocking(
                    lambda: LAST_LINE in shown() or make.poll() is not None,
                    timeout_s=START_TIMEOUT_S,
                )
                assert f"ready at {url}" in shown(), shown()
                yield url, shown
            finally:
                # As Ctrl-C does, to all of its processes.
                os.killpg(make.pid, signal.SIGINT)
                make.wait(STOP_TIMEOUT_S)


@pytest.mark.parametrize("on_terminal", [True, False], ids=["terminal", "pipe"])
def test_the_documented_commands_answer_as_shown(
    clone: Path, environment: dict[str, str], *, on_terminal: bool
) -> None:
    rmtree(clone / "data", ignore_errors=True)
    with started(clone, environment, on_terminal=on_terminal) as (url, shown):
        service = DemoService(url, clone, environment, on_terminal)

        readme.check_calls(service.run)
        try_it.check_calls(service.run)
        toured = service.run(".venv/bin/agent-runtime tour --yes")
        assert all(word in toured for word in ("ALLOWED", "DENIED", "ASKED", "cost"))
        # The first start, on the terminal, counts what it installs.
        assert not on_terminal or "packages fetched" in shown()
        # It begins with the console's link, and complains of nothing.
        assert f"{url}/console#code=" in shown()
        assert "warning" not in shown().lower()
        assert "error" not in shown().lower()

        walkthrough.check_answers(service.run)

    assert "Traceback" not in shown()
