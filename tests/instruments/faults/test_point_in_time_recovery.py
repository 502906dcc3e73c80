"""Point-in-time recovery of an external PostgreSQL, by the documented commands."""

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from service.cli.running import EXIT_CONFIG
from service.keys.key_ring import KEY_RING_FILE, KeyRing
from tests.instruments.faults.checks import Findings
from tests.instruments.faults.checks.tables import check_tables
from tests.support.audit.reading import until_signed
from tests.support.audit.verifying import verify
from tests.support.harness.archived_postgres import ArchivedPostgres, archived_postgres
from tests.support.harness.replicated_postgres import DATABASE
from tests.support.harness.service import Server, agent_runtime, running, serving
from tests.support.recovered_service import (
    Client,
    admin,
    expect_everything,
    head,
    record_everything,
    until_followed,
    until_ready,
)
from tests.support.waiting import until_blocking

pytestmark = pytest.mark.thorough

CONNECTORS = "/api/mcp/connectors"
NAME = "before_the_mistake"
TARGETS = {
    "recovery_target_time": "SELECT clock_timestamp()::text",
    "recovery_target_name": f"SELECT pg_create_restore_point('{NAME}')::text",
    "recovery_target_lsn": "SELECT pg_current_wal_insert_lsn()::text",
}
CHANGES = """
    SELECT epoch::text, old_epoch::text, position, reason FROM events.epoch_change
"""
WAITING = "SELECT pg_get_wal_replay_pause_state() = 'paused'"
TIMELINE = "SELECT left(pg_walfile_name(pg_current_wal_insert_lsn()), 8)"


@pytest.fixture
def archived() -> Iterator[ArchivedPostgres]:
    with archived_postgres() as archived:
        yield archived


@pytest.fixture
def service(archived: ArchivedPostgres, data_dir: Path, tmp_path: Path) -> Server:
    return serving(*where(archived, data_dir), log=tmp_path / "service.log")


def where(archived: ArchivedPostgres, data_dir: Path) -> tuple[str, ...]:
    return ("--database-url", archived.url, "--data-dir", str(data_dir))


def target_now(archived: ArchivedPostgres, kind: str) -> dict[str, str]:
    ((found,),) = archived.server.execute(TARGETS[kind])
    return {kind: NAME if kind == "recovery_target_name" else str(found)}


def test_a_service_started_after_a_recovery_continues_in_a_new_epoch(
    archived: ArchivedPostgres, service: Server, data_dir: Path, tmp_path: Path
) -> None:
    # given a log with everything, a reviewer's copy, and then what will be lost
    with running(service):
        root = admin(service.url, data_dir)
        erased, of_erased = root.user("erased")
        of_erased.post("/api/secrets", {"name": "x", "value": "to be destroyed"})
        _, ada = root.user("ada")
        record_everything(root, "kept")
        root.do("DELETE", f"/api/users/{erased}/key")
        until_followed(archived.url)
        kept, old_epoch = head(archived.url)
        until_signed(service.url, root.token, kept)
        target = target_now(archived, "recovery_target_time")
        lost_id, lost = root.user("lost")
        last = record_everything(root, "lost").position
        ada.post("/api/secrets", {"name": "lost", "value": "lost"})
        root.do("DELETE", f"/api/users/{lost_id}/key")
        until_signed(service.url, root.token, last)
        reviewed = tmp_path / "reviewed"
        shutil.copytree(data_dir / "checkpoints", reviewed)

    # when the database is recovered, and the service started on it
    archived.recover(target)
    archived.until_promoted()
    expect_tables_of_the_log(archived)
    with running(service):
        until_ready(service.url)
        until_followed(archived.url)

        # then the epoch is another one, from the position that both share
        _, epoch = head(archived.url)
        with psycopg.connect(archived.url) as db:
            assert db.execute(CHANGES).fetchall() == [
                (epoch, old_epoch, kept, "fail_over")
            ]
        root, ada, lost = (each.at(service.url) for each in (root, ada, lost))
        expect_old_positions_to_be_refused(root, old_epoch, epoch, last)
        expect_everything(root, "kept")
        assert root.get("/api/secrets/lost/value").status == 404
        assert lost.get(CONNECTORS).status == 401
        destroyed = of_erased.at(service.url).get("/api/secrets/x/value")
        assert (destroyed.status, destroyed.code) == (409, "key_destroyed")
        ada.post("/api/secrets", {"name": "again", "value": "again"})
        again = record_everything(root, "lost")
        assert again.epoch == epoch
        expect_everything(root, "lost")
        assert ada.get("/api/secrets/again/value").data["value"] == "again"
        until_followed(archived.url)
        until_signed(service.url, root.token, head(archived.url)[0])
        expect_the_audit_to_explain_it(archived, data_dir, reviewed, kept)
        said = agent_runtime("doctor", *where(archived, data_dir)).stdout
        assert "FAIL" not in said, said
        assert "ok    event positions" in said
    expect_tables_of_the_log(archived)


def expect_old_positions_to_be_refused(
    root: Client, old_epoch: str, epoch: str, last: int
) -> None:
    refused = root.get(CONNECTORS, X_Min_Position=str(last), X_Log_Epoch=old_epoch)
    assert (refused.status, refused.code) == (409, "log_epoch_changed")
    assert refused.epoch == epoch
    beyond = root.get(CONNECTORS, X_Min_Position=str(last + 1000))
    assert (beyond.status, beyond.code) == (412, "position_beyond_log")


def expect_tables_of_the_log(archived: ArchivedPostgres) -> None:
    """Expect the read tables to be what the log says; nobody follows meanwhile."""
    findings = Findings()
    if archived.server.execute("SELECT 1 FROM read.position LIMIT 1", DATABASE):
        asyncio.run(check_tables(archived.url, findings))
    assert findings == []


def expect_the_audit_to_explain_it(
    archived: ArchivedPostgres, data_dir: Path, reviewed: Path, kept: int
) -> None:
    """Verify an export with the reviewer's copies and both epochs' public keys."""
    export = data_dir / "export.jsonl"
    checkpoints = data_dir / "checkpoints"
    for each in checkpoints.iterdir():
        if not (reviewed / each.name).exists():
            shutil.copy(each, reviewed)
    done = agent_runtime(
        "audit", "events", "--output", str(export), *where(archived, data_dir)
    )
    assert done.returncode == 0, done.stderr
    keys = sorted(reviewed.glob("public-key.*"))
    assert len(keys) == 2
    _, epoch = head(archived.url)

    (old_key,) = (each for each in keys if not each.name.endswith(epoch))

    explained = f"a fail-over changed the epoch after position {kept}, as entry "
    for given in (keys, [reviewed / f"public-key.{epoch}"]):
        status, said = verify(export, reviewed, *given)
        assert (status, explained in said) == (0, True), said
    assert verify(export, reviewed, old_key)[0] == 1


def test_a_running_service_notices_a_recovery_behind_its_address(
    archived: ArchivedPostgres, service: Server, data_dir: Path
) -> None:
    with running(service):
        root = admin(service.url, data_dir)
        _, ada = root.user("ada")
        record_everything(root, "kept")
        until_followed(archived.url)
        kept, old_epoch = head(archived.url)
        target = target_now(archived, "recovery_target_name")
        # From now on the service has keys in its memory that the database will lack.
        ada.post("/api/secrets", {"name": "lost", "value": "lost"})
        last = record_everything(root, "lost").position
        until_followed(archived.url)

        # when somebody looks at the target before the server is promoted
        archived.recover(target, recovery_target_action="pause")
        until_blocking(lambda: archived.server.execute(WAITING) == [(True,)])

        # then nothing is written, and nothing that is lost is promised
        refused = ada.call("POST", "/api/secrets", {"name": "x", "value": "x"})
        assert (refused.status, refused.code) == (503, "unavailable")
        read = root.get(CONNECTORS, X_Min_Position=str(last), X_Log_Epoch=old_epoch)
        assert read.status in (412, 503), read

        archived.server.promote()
        until_blocking(lambda: head(archived.url)[1] != old_epoch)
        until_ready(service.url)
        until_followed(archived.url)
        _, epoch = head(archived.url)
        with psycopg.connect(archived.url) as db:
            assert db.execute(CHANGES).fetchall() == [
                (epoch, old_epoch, kept, "fail_over")
            ]
        expect_old_positions_to_be_refused(root, old_epoch, epoch, last)
        ada.post("/api/secrets", {"name": "again", "value": "again"})
        record_everything(root, "lost")
        until_followed(archived.url)
        until_signed(service.url, root.token, head(archived.url)[0])
    expect_tables_of_the_log(archived)
    with running(service):
        root, ada = root.at(service.url), ada.at(service.url)
        expect_everything(root, "kept")
        expect_everything(root, "lost")
        assert ada.get("/api/secrets/again/value").data["value"] == "again"
        assert head(archived.url)[1] == epoch


def test_a_recovery_to_the_exact_end_keeps_the_epoch(
    archived: ArchivedPostgres, service: Server, data_dir: Path
) -> None:
    with running(service):
        root = admin(service.url, data_dir)
        record_everything(root, "kept")
        until_followed(archived.url)
        end, epoch = head(archived.url)

        archived.recover({})
        archived.until_promoted()
        until_ready(service.url)

        read = root.get(CONNECTORS, X_Min_Position=str(end), X_Log_Epoch=epoch)
        assert read.status == 200, read
        after = record_everything(root, "after")
        assert after.epoch == epoch
        until_followed(archived.url)
        until_signed(service.url, root.token, after.position)
        with psycopg.connect(archived.url) as db:
            assert db.execute(CHANGES).fetchall() == []
        expect_everything(root, "kept")
    expect_tables_of_the_log(archived)


def test_a_second_recovery_from_one_backup_makes_another_epoch(
    archived: ArchivedPostgres, service: Server, data_dir: Path
) -> None:
    """The archive knows nothing of the first one, so both make the same timeline."""
    with running(service):
        root = admin(service.url, data_dir)
        epochs = [head(archived.url)[1]]
        kept = root.post("/api/catalog/agents", {"name": "kept"}).position
        earlier = target_now(archived, "recovery_target_lsn")
        root.post("/api/catalog/agents", {"name": "lost the second time"})
        later = target_now(archived, "recovery_target_lsn")
        root.post("/api/catalog/agents", {"name": "lost the first time"})
        timelines = []
        for target in (later, earlier):
            archived.recover(target, archive_mode="off")
            archived.until_promoted()
            timelines += archived.server.execute(TIMELINE)
            until_blocking(lambda: head(archived.url)[1] not in epochs)
            epochs.append(head(archived.url)[1])
            until_ready(service.url)
            until_followed(archived.url)

        assert timelines[0] == timelines[1]
        with psycopg.connect(archived.url) as db:
            assert db.execute(CHANGES).fetchall() == [
                (epochs[2], epochs[0], kept, "fail_over")
            ]
        for each in epochs[:2]:
            assert root.get(CONNECTORS, X_Log_Epoch=each).code == "log_epoch_changed"
        written = root.post("/api/catalog/agents", {"name": "new"})
        assert written.epoch == epochs[2]


def test_a_recovery_needs_the_keys_of_its_database(
    archived: ArchivedPostgres, service: Server, data_dir: Path, tmp_path: Path
) -> None:
    with running(service):
        root = admin(service.url, data_dir)
        record_everything(root, "kept")
        target = target_now(archived, "recovery_target_time")
        root.post("/api/catalog/agents", {"name": "lost"})
    old_id = KeyRing.load(data_dir / KEY_RING_FILE).primary_id
    rotated = agent_runtime("keys", "rotate", *where(archived, data_dir))
    assert rotated.returncode == 0, rotated.stderr
    archived.recover(target)
    archived.until_promoted()
    other = tmp_path / "other"
    other.mkdir(mode=0o700)

    for folder in (other, data_dir):
        refused = agent_runtime("serve", "--port", "0", *where(archived, folder))
        assert refused.returncode == EXIT_CONFIG
        assert old_id in refused.stderr

    kept = data_dir / f"keys-{old_id}.json"
    shutil.copy(kept, data_dir / KEY_RING_FILE)
    with running(service):
        expect_everything(root.at(service.url), "kept")
