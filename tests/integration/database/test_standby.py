"""Commands that write, on a server that is a standby or whose recovery has paused."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.cli.main import TAKES_ONLY_READS
from service.cli.running import EXIT_FAILED
from service.migrate import migrate
from tests.support.harness.replicated_postgres import (
    Server,
    primary_server,
    standby_of,
)
from tests.support.harness.service import agent_runtime, running, serving

pytestmark = pytest.mark.thorough


@pytest.fixture
def standby() -> Iterator[Server]:
    with primary_server() as primary:
        migrate(primary.url)
        with standby_of(primary) as standby:
            yield standby


def test_they_say_what_to_do(standby: Server, data_dir: Path) -> None:
    where = ("--database-url", standby.url, "--data-dir", str(data_dir))
    standby.pause_replay()

    for command in (
        ("serve", "--port", "0"),
        ("migrate",),
        ("rebuild", "all"),
        ("keys", "rotate"),
    ):
        refused = agent_runtime(*command, *where)
        assert refused.returncode == EXIT_FAILED, refused.stderr
        assert refused.stderr.endswith(f"agent-runtime: {TAKES_ONLY_READS}\n")

    assert "SELECT pg_promote()" in TAKES_ONLY_READS
    standby.promote()
    with running(serving(*where)):
        pass
