"""A PostgreSQL that archives its WAL, and its recovery to a point in time.

Both are done by the commands of docs/operations/backup.md.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from service.embedded_postgres.account import change_owner, server_account
from service.embedded_postgres.binaries import packaged_binaries
from service.embedded_postgres.processes import ENVIRONMENT
from tests.support.harness.replicated_postgres import (
    DATABASE,
    PORT,
    Server,
    as_server_account,
    primary_server,
)
from tests.support.project import ROOT
from tests.support.waiting import until_blocking

DOCUMENT = ROOT / "docs/operations/backup.md"
SECTION = "## Point-in-time recovery"
BACKUPS = "/backups"
TARGET = re.compile(r"^recovery_target_time = .*$", re.MULTILINE)
PREPARED = "A superuser prepares it once:\n\n```sql\n"
LOGIN_ROLE = "agent_runtime"


@dataclass(slots=True)
class ArchivedPostgres:
    server: Server

    @property
    def url(self) -> str:
        """The URL of the service's login role, which is no superuser."""
        return (
            f"host={self.server.folder} port={PORT} user={LOGIN_ROLE}"
            f" dbname={DATABASE} connect_timeout=5"
        )

    @property
    def backups(self) -> Path:
        return self.server.folder / "backups"

    def recover(self, target: Mapping[str, str], **settings: str) -> None:
        """Stop the server, and start it from the base backup, up to the target.

        Without a target, up to the end of the archive.
        """
        self.server.stop("fast")
        self.restore(target, **settings)
        self.server.start()

    def restore(self, target: Mapping[str, str], **settings: str) -> None:
        """Put the base backup in place of a server that is stopped."""
        script = _commands()[2]
        lines = [f"{name} = '{value}'" for name, value in target.items()]
        assert TARGET.search(script)
        script = TARGET.sub("\n".join(lines), script)
        self.run(script.replace('"$PGDATA.lost"', f'"$PGDATA.lost{self._lost()}"'))
        with (self.server.data / "postgresql.auto.conf").open("a") as file:
            file.writelines(f"{name} = '{each}'\n" for name, each in settings.items())

    def until_promoted(self) -> None:
        until_blocking(
            lambda: self.server.execute("SELECT pg_is_in_recovery()") == [(False,)]
        )

    def _lost(self) -> int:
        return len(list(self.server.folder.glob("data.lost*")))

    def run(self, script: str) -> None:
        """Run a documented script as PostgreSQL's user."""
        folder = self.server.folder
        done = subprocess.run(
            [
                *as_server_account(folder),
                *("sh", "-e", "-c", script.replace(BACKUPS, str(self.backups))),
            ],
            env=ENVIRONMENT
            | {
                "PATH": f"{packaged_binaries()}:{ENVIRONMENT['PATH']}",
                "PGDATA": str(self.server.data),
                "PGHOST": str(folder),
                "PGPORT": PORT,
                "PGUSER": "postgres",
            },
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr


@contextmanager
def archived_postgres() -> Iterator[ArchivedPostgres]:
    """Run a server with an archive, a base backup, and an empty database."""
    # As in production: agent-runtime doctor looks.
    with primary_server("archived", fsync="on") as server:
        archived = ArchivedPostgres(server)
        for folder in (archived.backups, archived.backups / "wal"):
            folder.mkdir(mode=0o700)
            change_owner(folder, *server_account(folder / "none"))
        archive, back_up, _ = _commands()
        archived.run(archive)
        server.stop("fast")
        server.start()
        _prepare(server)
        archived.run(back_up)
        yield archived


def _commands() -> list[str]:
    """Return the documented scripts: to archive, to back up, and to recover."""
    section = DOCUMENT.read_text("utf-8").split(SECTION)[1].split("\n## ")[0]
    return re.findall(r"```sh\n(.*?)```", section, re.DOTALL)


def _prepare(server: Server) -> None:
    """Prepare the database as docs/operations/database.md says."""
    text = (ROOT / "docs/operations/database.md").read_text("utf-8")
    server.execute(f"DROP DATABASE {DATABASE}")
    for statement in text.split(PREPARED)[1].split("```")[0].split(";"):
        if statement.strip():
            server.execute(statement)
