"""What a person, and what a program, sees of a start with demo data."""

import io
import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import orjson
import pytest

from tests.support.harness.service import own_environment

READY = re.compile(r"agent-runtime ready at (http://[^,\s]+)")
TEXT_LINE = re.compile(r"\d\d:\d\d:\d\d (INFO|WARNING) +\S.*")
STOP_S = 60

pytestmark = [pytest.mark.thorough, pytest.mark.timeout(600)]


def command(tmp_path: Path, database_url: str) -> list[str]:
    return [
        *(sys.executable, "-m", "service", "serve", "--demo", "--port", "0"),
        *("--data-dir", str(tmp_path / "data"), "--database-url", database_url),
    ]


def test_a_person_at_a_terminal_sees_a_few_readable_lines(
    database_url: str, tmp_path: Path
) -> None:
    terminal, end_of_process = pty.openpty()
    with (
        open(terminal, "rb", buffering=0) as screen,  # noqa: PTH123
        subprocess.Popen(
            command(tmp_path, database_url),
            stdin=subprocess.DEVNULL,
            stdout=end_of_process,
            stderr=end_of_process,
            env=own_environment({"NO_COLOR": "1"}),
        ) as process,
    ):
        os.close(end_of_process)
        try:
            shown = read_until(screen, "/docs")
            ready = READY.search(shown)
            assert ready, shown
            urlopen(f"{ready[1]}/livez").close()  # noqa: S310
            process.terminate()
            shown += read_until(screen, None)
            assert process.wait(STOP_S) == 0, shown
        finally:
            process.kill()

    before, after = shown.replace("\r\n", "\n").split("agent-runtime ready at", 1)
    lines = before.splitlines()
    assert all(TEXT_LINE.fullmatch(line) for line in lines), before
    # The start is short and says how far the demo is, but not each request.
    assert any("loading demo data: 150 of 300 chats" in line for line in lines)
    assert len(lines) < 25
    assert "/api/" not in before
    assert re.search(r"INFO +GET /livez 200 \d+\.\d ms\n", after)


def read_until(screen: io.FileIO, words: str | None) -> str:
    """Read what a terminal shows up to some words, or to the process's end."""
    shown = b""
    while words is None or words not in shown.decode():
        try:
            part = screen.read(65536)
        except OSError:  # Linux's way to say that nobody writes any more
            break
        if not part:
            break
        shown += part
    return shown.decode()


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
            urlopen(f"{ready[1]}/livez").close()  # noqa: S310
            process.terminate()
            assert process.wait(STOP_S) == 0
        finally:
            process.kill()

    lines = [
        orjson.loads(line) for line in (tmp_path / "log").read_bytes().splitlines()
    ]
    requests = [line for line in lines if line["logger"] == "agent_runtime.request"]
    assert [line["route"] for line in requests] == ["/livez"]
    assert any(line["message"] == "demo data loaded" for line in lines)
