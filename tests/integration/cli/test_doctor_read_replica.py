"""What an operator is told about a read replica, with a real standby."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from service.cli.main import main
from service.cli.read_replica import LAG, REACHED, ROLE, SAME_LOG, STANDBY
from service.cli.running import EXIT_CONFIG, EXIT_FAILED
from service.database import CONNECT_TIMEOUT_S, connect
from service.migrate import migrate
from tests.support.harness.replicated_postgres import (
    Replication,
    Server,
    primary_server,
    standby_of,
)

pytestmark = pytest.mark.usefixtures("logging_as_it_was")

Problems = Callable[[Server, str], dict[str, str]]
EVENT_OF_A_MINUTE_AGO = """
    INSERT INTO events.stored_event
    SELECT gen_random_uuid(), 1, 'test', '{}', position + 1,
           now() - interval '1 minute', gen_random_uuid(), '{}'
      FROM events.head
"""


@pytest.fixture(scope="module")
def servers() -> Iterator[Replication]:
    with primary_server() as primary:
        migrate(primary.url)
        with standby_of(primary) as standby:
            yield Replication(primary, standby)


@pytest.fixture
def problems(capsys: pytest.CaptureFixture[str], data_dir: Path) -> Problems:
    return partial(problems_said, capsys, data_dir)


def problems_said(
    capsys: pytest.CaptureFixture[str], data_dir: Path, primary: Server, replica: str
) -> dict[str, str]:
    """Run the command; return what it says of the replica, empty where that is ok."""
    options = ["--data-dir", str(data_dir), "--database-url", primary.url]
    status = main(["doctor", *options, "--read-database-url", replica])
    found = {}
    for line in capsys.readouterr().out.splitlines():
        name, _, problem = line[6:].partition(": ")
        if name.startswith("read replica"):
            found[name] = problem
            assert line.startswith("FAIL" if problem else "ok")
    if any(found.values()):
        assert status == EXIT_FAILED
    return found


def test_a_standby_that_follows_is_ok(problems: Problems, servers: Replication) -> None:
    found = problems(servers.primary, servers.standby.url)

    assert found == dict.fromkeys((REACHED, ROLE, STANDBY, SAME_LOG, LAG), "")


def test_a_primary_is_no_standby(problems: Problems, servers: Replication) -> None:
    found = problems(servers.primary, servers.primary.url)

    assert [name for name, problem in found.items() if problem] == [STANDBY]
    assert "--read-database-url" in found[STANDBY]


def test_a_standby_that_replays_nothing_is_behind(
    problems: Problems, servers: Replication
) -> None:
    servers.standby.pause_replay()
    with psycopg.connect(servers.primary.url) as owner:
        owner.execute(EVENT_OF_A_MINUTE_AGO)
        owner.execute("UPDATE events.head SET position = position + 1")
    try:
        found = problems(servers.primary, servers.standby.url)
    finally:
        servers.standby.resume_replay()

    assert [name for name, problem in found.items() if problem] == [LAG]
    assert found[LAG].startswith("it is at position 0 of 1, ")


def test_a_standby_of_another_log_is_named(
    problems: Problems, servers: Replication
) -> None:
    with primary_server("other") as other:
        migrate(other.url)
        found = problems(other, servers.standby.url)

    assert [name for name, problem in found.items() if problem] == [SAME_LOG]


@pytest.mark.thorough
def test_a_standby_that_is_down_or_frozen_is_not_reached(
    problems: Problems, servers: Replication, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The frozen one never answers, so all of the limit passes: not the raised one.
    own_limit = {"timeout_s": CONNECT_TIMEOUT_S}
    monkeypatch.setattr(connect, "__kwdefaults__", own_limit)
    servers.standby.kill()
    try:
        down = problems(servers.primary, servers.standby.url)
    finally:
        servers.standby.start()
    servers.standby.freeze()
    try:
        frozen = problems(servers.primary, servers.standby.url)
    finally:
        servers.standby.thaw()

    for found in (down, frozen):
        assert [*found] == [REACHED]
        assert "reads are asked of the primary meanwhile" in found[REACHED]


def test_a_replica_without_its_primary_is_refused(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    options = ["--data-dir", str(tmp_path), "--read-database-url", "postgresql://x/y"]

    assert main(["doctor", *options]) == EXIT_CONFIG
    assert "needs the --database-url of its primary" in capsys.readouterr().err
