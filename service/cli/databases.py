"""The database that a command works on."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.sql import SQL, Identifier

from service.config import Config
from service.database import SERVICE_ROLE
from service.embedded_postgres.errors import DataFolderInUseError
from service.errors import ConfigError
from service.migrate import migrate, require_migrated

if TYPE_CHECKING:
    from service.embedded_postgres.server import EmbeddedPostgres

HAS_EFFECTIVE_IDS: Final = os.access in os.supports_effective_ids
MAY_LOG_IN: Final = "SELECT FROM pg_roles WHERE rolname = %s AND rolcanlogin"


def require_primary(config: Config) -> None:
    """Require that the database of a read replica is named.

    :raises ConfigError: it isn't
    """
    if config.read_database_url is not None and config.database_url is None:
        raise ConfigError("--read-database-url needs the --database-url of its primary")


def require_data_folder(config: Config) -> None:
    """Require that the data folder is there, unless the database is looked for in it.

    :raises ConfigError: it isn't
    """
    if config.database_url is not None and not config.data_dir.is_dir():
        raise ConfigError(
            f"there is no data folder {config.data_dir}; set --data-dir to the one that"
            " 'agent-runtime serve' uses"
        )


@contextmanager
def database(config: Config) -> Iterator[tuple[str, "EmbeddedPostgres | None"]]:
    """Yield the database's URL, starting the embedded one where none is given."""
    _make_folder(config.data_dir)
    if config.database_url is not None:
        yield config.database_url, None
        return
    _require_writable(config.data_dir)
    with _embedded().start(config.data_dir) as postgres:
        yield postgres.url, postgres


def _embedded() -> "type[EmbeddedPostgres]":
    # Perhaps not installed, where the database has a URL.
    from service.embedded_postgres.server import EmbeddedPostgres

    return EmbeddedPostgres


def _make_folder(data_dir: Path) -> None:
    try:
        data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except FileExistsError:
        found = "a link that leads to no folder" if data_dir.is_symlink() else "a file"
        raise ConfigError(
            f"{data_dir} is {found}: set --data-dir to a folder, or to one to create"
        ) from None
    except OSError as error:
        raise ConfigError(
            f"can't create the data folder {data_dir}: {error.strerror}"
        ) from None


def _require_writable(data_dir: Path) -> None:
    mode = os.R_OK | os.W_OK | os.X_OK
    if not os.access(data_dir, mode, effective_ids=HAS_EFFECTIVE_IDS):
        raise ConfigError(
            f"user {os.geteuid()} can't write to the data folder {data_dir}: change its"
            " owner or mode, or set --data-dir to another one"
        )


@contextmanager
def database_in_use(config: Config) -> Iterator[str]:
    """Yield the URL of an existing database, also while a service runs on it.

    It is migrated. That of the embedded one is for the role of the service.
    """
    with _existing(config, migrates=True) as url:
        yield url if config.database_url is not None else for_service(url)


@contextmanager
def migrated_database(config: Config) -> Iterator[str]:
    """Yield the same URL for a command that reads: the database isn't migrated.

    :raises PendingMigrationsError: it would have to be
    """
    with database_to_read(config) as url:
        require_migrated(url)
        yield url if config.database_url is not None else for_service(url)


@contextmanager
def _existing(config: Config, *, migrates: bool) -> Iterator[str]:
    if config.database_url is None and not _embedded().is_in(config.data_dir):
        raise ConfigError(
            f"no database in {config.data_dir}; set --data-dir or --database-url, or "
            "create one with 'agent-runtime serve'"
        )
    try:
        with database(config) as (url, _):
            if migrates:
                migrate(url)
            yield url
    except DataFolderInUseError:
        yield _embedded().url_of_running(config.data_dir)


@contextmanager
def database_to_read(config: Config) -> Iterator[str]:
    """Yield the URL of an existing database of whatever version, perhaps a replica."""
    if config.database_url is not None:
        yield config.database_url
        return
    with _existing(config, migrates=False) as url:
        yield url


def for_service(url: str) -> str:
    """Return the URL of the embedded database for the role of the service.

    The role itself logs in, so that ``RESET ROLE`` doesn't make it a superuser, as
    which PostgreSQL is started, migrated and backed up.
    """
    with psycopg.connect(url, autocommit=True) as db:
        cursor = db.execute(MAY_LOG_IN, [SERVICE_ROLE])
        if cursor.fetchone() is None:
            db.execute(SQL("ALTER ROLE {} LOGIN").format(Identifier(SERVICE_ROLE)))
    return make_conninfo(url, user=SERVICE_ROLE)
