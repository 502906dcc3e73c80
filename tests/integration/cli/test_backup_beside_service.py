"""A backup while the service changes what it copies, or of which there is no room."""

import errno
import os
import threading
import zipfile
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.errors import LockNotAvailable

from service.cli import backup
from service.cli.main import main
from service.cli.running import EXIT_CONFIG
from service.keys.key_ring import KEY_RING_FILE
from tests.support.waiting import until_blocking

pytestmark = pytest.mark.usefixtures("logging_as_it_was")

A_RECEIPT = """
    INSERT INTO events.receipt (key, request, answer, position, recorded_at)
    VALUES ('\\x01', '\\x02', '\\x03', 0, now())
"""
A_DAY_AGO = """
    UPDATE events.receipt_rotation SET rotated_at = rotated_at - interval '25 hours'
"""
IS_WAITING = """
    SELECT FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock'
"""


def back_up(file: Path, data_dir: Path, url: str) -> int:
    return main(
        ["backup", str(file), "--data-dir", str(data_dir), "--database-url", url]
    )


def test_receipts_that_count_are_not_moved_away_from_a_backup(
    data_dir: Path, database_url: str, tmp_path: Path
) -> None:
    file = tmp_path / "one.backup"
    with (
        psycopg.connect(database_url) as holding,
        psycopg.connect(database_url, autocommit=True) as rotating,
    ):
        # given a rotation that is due, while a backup waits for its first table
        rotating.execute(A_RECEIPT)
        rotating.execute(A_DAY_AGO)
        holding.execute("LOCK TABLE events.checkpoint")
        backing_up = threading.Thread(
            target=back_up, args=(file, data_dir, database_url)
        )
        backing_up.start()
        until_blocking(lambda: rotating.execute(IS_WAITING).fetchall())

        # when one tries it,
        with suppress(LockNotAvailable):
            rotating.execute("SELECT events.rotate_receipts()")
        holding.rollback()
        backing_up.join()

    # then the backup has the receipt where its time of the last rotation says
    with zipfile.ZipFile(file) as archive:
        assert len(archive.read("events/receipt").splitlines()) == 1
        assert archive.read("events/receipt_previous") == b""


def test_checkpoints_that_are_being_written_are_left_out(
    data_dir: Path, database_url: str, tmp_path: Path
) -> None:
    folder = data_dir / "checkpoints"
    folder.mkdir()
    (folder / "latest.epoch").write_text("signed")
    (folder / ".latest.epoch.42").write_text("sig")

    assert back_up(tmp_path / "one.backup", data_dir, database_url) == 0

    with zipfile.ZipFile(tmp_path / "one.backup") as archive:
        names = [each for each in archive.namelist() if "latest" in each]
    assert names == ["checkpoints/latest.epoch"]


def test_a_full_disk_is_told_and_leaves_nothing(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    data_dir: Path,
    database_url: str,
    tmp_path: Path,
) -> None:
    def write_table(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(backup, "_write_table", write_table)
    file = tmp_path / "one.backup"

    assert back_up(file, data_dir, database_url) == EXIT_CONFIG

    said = capsys.readouterr().err
    assert f"can't make the backup {file}: [Errno 28] No space left on device" in said
    assert [each.name for each in tmp_path.iterdir()] == [data_dir.name]


def test_an_unreadable_file_is_not_called_the_backup(
    capsys: pytest.CaptureFixture[str],
    data_dir: Path,
    database_url: str,
    tmp_path: Path,
) -> None:
    keys = data_dir / KEY_RING_FILE
    keys.unlink()
    keys.mkdir()  # nobody can read that as a file, not even root
    file = tmp_path / "one.backup"

    assert back_up(file, data_dir, database_url) == EXIT_CONFIG

    said = capsys.readouterr().err
    assert f"can't make the backup {file}: [Errno 21] Is a directory: '{keys}'" in said
    assert not file.exists()
