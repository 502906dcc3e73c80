"""The database that a command works on."""

from collections.abc import Iterator
from contextlib import contextmanager

from service.config import Config
from service.embedded_postgres.errors import DataFolderInUseError
from service.embedded_postgres.server import EmbeddedPostgres
from service.errors import ConfigError
from service.migrate import migrate


@contextmanager
def database(config: Config) -> Iterator[tuple[str, EmbeddedPostgres | None]]:
    """Yield the database's URL, starting the embedded one where none is given."""
    try:
        config.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"can't create the data folder {config.data_dir}: {error.strerror}"
        ) from None
    if config.database_url is not None:
        yield config.database_url, None
        return
    with EmbeddedPostgres.start(config.data_dir) as postgres:
        yield postgres.url, postgres


@contextmanager
def database_in_use(config: Config) -> Iterator[str]:
    """Yield the URL of an existing database, also while a service runs on it."""
    if config.database_url is None and not EmbeddedPostgres.is_in(config.data_dir):
        raise ConfigError(
            f"no database in {config.data_dir}; set --data-dir or --database-url, or "
            "create one with 'agent-runtime serve'"
        )
    try:
        with database(config) as (url, _):
            migrate(url)
            yield url
    except DataFolderInUseError:
        yield EmbeddedPostgres.url_of_running(config.data_dir)


@contextmanager
def database_to_read(config: Config) -> Iterator[str]:
    """Yield the database's URL; an external one, perhaps a replica, isn't migrated."""
    if config.database_url is not None:
        yield config.database_url
        return
    with database_in_use(config) as url:
        yield url
