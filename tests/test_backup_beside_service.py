"""A backup while the service changes what it copies."""

import threading
import zipfile
from contextlib import suppress
from pathlib import Path

import psycopg
import pytest
from psycopg.errors import LockNotAvailable

from service.cli.main import main
from tests.waiting import until_blocking

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
