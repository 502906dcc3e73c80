"""What a person, and what a program, sees of a start with demo data."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import orjson
import pytest

from tests.support.harness.service import own_environment
from tests.support.terminal import open_terminal
from tests.support.waiting import until_blocking

READY = re.compile(r"agent-runtime ready at (http://[^,\s]+)")
TEXT_LINE = re.compile(r"\d\d:\d\d:\d\d (INFO|WARNING) +\S.*")
STOP_S = 60
# Where processes get little of the processor, they need minutes to start.
LOADED_S = 500.0

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(600)]


def command(tmp_path: Path, database_url: str) -> list[str]:
    return [
        *(sys.executable, "-m", "service", "serve", "--demo", "--port", "0"),
        *("--data-dir", str(tmp_path / "data"), "--database-url", database_url),
    ]


def test_a_person_at_a_terminal_sees_a_few_readable_lines(
    database_url: str, tmp_path: Path
) -> None:
    with (
        open_terminal() as terminal,
        subprocess.Popen(
            command(tmp_path, database_url),
            stdin=subprocess.DEVNULL,
            stdout=terminal.device,
            stderr=terminal.device,
            env=own_environment({"NO_COLOR": "1"}),
        ) as process,
    ):
        try:
            until_blocking(
                lambda: "/docs" in terminal.shown or process.poll() is not None,
                timeout_s=LOADED_S,
            )
            ready = READY.search(terminal.shown)
            assert ready, terminal.shown
            urlopen(f"{ready[1]}/openapi.json").close()  # noqa: S310
            process.terminate()
            assert process.wait(STOP_S) == 0, terminal.shown
        finally:
            process.kill()

    before, after = terminal.shown.split("agent-runtime ready at", 1)
    lines = before.splitlines()
    assert all(TEXT_LINE.fullmatch(line) for line in lines), before
    # The start is short and says how far the demo is, but not each request.
    assert any("loading demo data: 150 of 300 chats" in line for line in lines)
    assert len(lines) < 25
    assert "/api/" not in before
    assert re.search(r"INFO +GET /openapi\.json 200 \d+\.\d ms\n", after)


def test_a_program_reads_json_lines_without_the_requests_of_the_demo(
    database_url: str, tmp_path: Path
) -> None:
    with (
        (tmp_path / "log").open("wb") as log,
        subprocess.Popen(
            command(tmp_path, database_url),
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env=own_environment(),
        ) as process,
    ):
        try:
            assert process.stdout is not None
            ready = READY.search(process.stdout.readline())
            assert ready, (tmp_path / "log").read_text()[-2000:]
            urlopen(f"{ready[1]}/openapi.json").close()  # noqa: S310
            process.terminate()
            assert process.wait(STOP_S) == 0
        finally:
            process.kill()

    lines = [
        orjson.loads(line) for line in (tmp_path / "log").read_bytes().splitlines()
    ]
    requests = [line for line in lines if line["logger"] == "agent_runtime.request"]
    assert [line["route"] for line in requests] == ["/openapi.json"]
    assert any(line["message"] == "demo data loaded" for line in lines)
