"""What another process of the same user can get of a hardened one's memory."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from service.embedded_postgres.server import EmbeddedPostgres
from tests.support.harness.process_tree import has_ended
from tests.support.project import ROOT
from tests.support.waiting import until_blocking

HARDEN = "forbid_dumps()"

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        not hasattr(ctypes.CDLL(None), "prctl"), reason="only Linux has prctl(2)"
    ),
]

# Both become the same ordinary user, after Python was read by a user who may read it.
BECOME_ORDINARY = """
import ctypes, os, resource, sys, time
from service.hardening import PR_SET_DUMPABLE, forbid_dumps
resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY,) * 2)
if os.geteuid() == 0:
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    # As after an ordinary start; the change of user alone forbids dumps, too.
    ctypes.CDLL(None).prctl(PR_SET_DUMPABLE, 1, 0, 0, 0)
"""
SLEEP = "print(os.getpid(), flush=True); time.sleep(60)"
PEEK = """
open(f"/proc/{sys.argv[1]}/mem", "rb").close()
open(f"/proc/{sys.argv[1]}/environ", "rb").read()
"""


@contextmanager
def sleeper(harden: str, folder: Path) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-c", f"{BECOME_ORDINARY}\n{harden}\n{SLEEP}"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={"PYTHONPATH": str(ROOT)},
    ) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) == process.pid
        yield process
        process.kill()


def may_peek(pid: int) -> bool:
    peeker = subprocess.run(
        [sys.executable, "-c", BECOME_ORDINARY + PEEK, str(pid)],
        check=False,
        capture_output=True,
        cwd=ROOT,
    )
    assert peeker.returncode == 0 or b"PermissionError" in peeker.stderr
    return peeker.returncode == 0


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    tmp_path.chmod(0o777)
    return tmp_path


@pytest.mark.parametrize(("harden", "open_to_user"), [("", True), (HARDEN, False)])
def test_memory_is_closed_to_the_same_user(
    folder: Path, harden: str, *, open_to_user: bool
) -> None:
    with sleeper(harden, folder) as process:
        assert may_peek(process.pid) == open_to_user


@pytest.mark.parametrize(("harden", "dumps"), [("", True), (HARDEN, False)])
def test_a_crash_leaves_no_core(folder: Path, harden: str, *, dumps: bool) -> None:
    with sleeper(harden, folder) as process:
        os.kill(process.pid, signal.SIGSEGV)
        _, status = os.waitpid(process.pid, 0)
        process.returncode = -signal.SIGSEGV
    assert os.WTERMSIG(status) == signal.SIGSEGV
    if dumps and not os.WCOREDUMP(status):
        pytest.skip("this kernel makes no core files, so their absence says nothing")
    assert os.WCOREDUMP(status) == dumps


def test_the_embedded_postgresql_still_starts_and_ends_with_its_parent(
    tmp_path: Path,
) -> None:
    program = (
        "import sys, time; from pathlib import Path\n"
        "from service.hardening import forbid_dumps; forbid_dumps()\n"
        "from service.embedded_postgres.server import EmbeddedPostgres\n"
        "server = EmbeddedPostgres.start(Path(sys.argv[1]))\n"
        "print(server.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    ) as parent:
        assert parent.stdout is not None
        postgres = int(parent.stdout.readline())
        with psycopg.connect(EmbeddedPostgres.url_of_running(tmp_path)) as db:
            assert db.execute("SELECT 1").fetchone() == (1,)
        parent.kill()
        parent.wait()
    until_blocking(lambda: has_ended(postgres))
