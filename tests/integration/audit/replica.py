"""A streaming replica of an embedded PostgreSQL, as a reviewer may be given one."""

import os
import pwd
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from service.embedded_postgres.server import EmbeddedPostgres
from tests.support.databases import memory_folder
from tests.support.secrets.served import postgres_program


@contextmanager
def streaming_replica(primary: EmbeddedPostgres, data_dir: Path) -> Iterator[str]:
    """The URL of a hot standby of the server of a data folder."""
    _let_replicate(primary, data_dir)
    with tempfile.TemporaryDirectory(
        prefix="agent-runtime-replica-", dir=memory_folder()
    ) as folder:
        home = Path(folder) / "postgres"
        home.mkdir()
        subprocess.run(
            [
                *(postgres_program("pg_basebackup"), "--write-recovery-conf"),
                *("--wal-method", "stream", "--checkpoint", "fast"),
                *("--dbname", primary.url, "--pgdata", home / "cluster"),
            ],
            check=True,
            capture_output=True,
        )
        with EmbeddedPostgres.start(Path(folder)) as replica:
            yield replica.url


def _let_replicate(primary: EmbeddedPostgres, data_dir: Path) -> None:
    """Let a replica of root's server in, which runs as another user than root."""
    if os.geteuid() == 0:
        server = pwd.getpwuid((data_dir / "postgres" / "cluster").stat().st_uid)
        with (data_dir / "postgres" / "pg_ident.conf").open("a") as file:
            file.write(f'service "{server.pw_name}" all\n')
        with psycopg.connect(primary.url) as db:
            db.execute("SELECT pg_reload_conf()")


def sender_state(primary_url: str) -> str | None:
    """Return the state of the primary's sender to its replica; None without one."""
    with psycopg.connect(primary_url) as db:
        row = db.execute("SELECT state FROM pg_stat_replication").fetchone()
    return row[0] if row else None
