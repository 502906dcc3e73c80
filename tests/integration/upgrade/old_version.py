"""What commit 0fd5674 left: a database, the other files of its data folder, a backup.

See commit_0fd5674/README.md.
"""

import gzip
import json
import subprocess
from pathlib import Path
from typing import Any, Final

import psycopg
from psycopg.conninfo import conninfo_to_dict

from service.database import READER_ROLE, SERVICE_ROLE
from service.embedded_postgres.binaries import packaged_binaries
from service.embedded_postgres.server import EmbeddedPostgres
from tests.support.archives import unpack

FOLDER: Final = Path(__file__).parent / "commit_0fd5674"
BACKUP: Final = FOLDER / "log.backup"
ANSWERS: Final[dict[str, Any]] = json.loads((FOLDER / "answers.json").read_text())
POSITION: Final = 216
CREATE_ROLES: Final = f"""
    DO $$ BEGIN CREATE ROLE {SERVICE_ROLE} NOLOGIN;
    EXCEPTION WHEN duplicate_object THEN NULL; END $$;
    DO $$ BEGIN CREATE ROLE {READER_ROLE} NOLOGIN;
    EXCEPTION WHEN duplicate_object THEN NULL; END $$;
"""
# As if the database had stayed on its server, and its receipts were of today.
AS_IT_WAS: Final = """
    UPDATE events.head SET server = events.server();
    UPDATE events.receipt SET recorded_at = greatest(now(), h.recorded_at)
      FROM events.head h;
"""


def data_folder(folder: Path) -> Path:
    """Make a data folder as the old version left it, without a database."""
    folder.mkdir(mode=0o700)
    unpack(FOLDER / "data.tar.gz", folder)
    return folder


def embedded(folder: Path) -> Path:
    """Make the same with an embedded database."""
    data_folder(folder)
    with EmbeddedPostgres.start(folder) as postgres:
        load(postgres.url)
    return folder


def load(url: str, owner: str = "postgres") -> None:
    """Fill an empty database, as a superuser, for its owner."""
    text = gzip.decompress((FOLDER / "database.sql.gz").read_bytes()).decode()
    name = conninfo_to_dict(url)["dbname"]
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(CREATE_ROLES.encode())
        db.execute(f"GRANT {SERVICE_ROLE} TO {owner}".encode())
        db.execute(f"GRANT CREATE ON DATABASE {name} TO {SERVICE_ROLE}".encode())
    subprocess.run(
        [packaged_binaries() / "psql", "-qX", "-v", "ON_ERROR_STOP=1", url],
        input=text.replace("OWNER TO postgres;", f"OWNER TO {owner};"),
        stdout=subprocess.DEVNULL,
        text=True,
        check=True,
    )
    with psycopg.connect(url, autocommit=True) as db:
        db.execute(AS_IT_WAS)
