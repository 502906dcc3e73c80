"""Databases as an earlier version of the service leaves them."""

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.conninfo import make_conninfo

from service.migrate import migrate, migrations


@contextmanager
def database_before(server: str, migration: str) -> Iterator[str]:
    """The URL of a new database that has every migration before this one."""
    name = f"before_{migration[:4]}"
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f"CREATE DATABASE {name}".encode())
    url = make_conninfo(server, dbname=name)
    migrate_before(url, migration)
    yield url
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f"DROP DATABASE {name} WITH (FORCE)".encode())


def migrate_before(url: str, migration: str) -> None:
    """Run every migration before this one."""
    known = {each.name: each.sha256 for each in migrations()}
    migrate(url, upto={each: known[each] for each in known if each < migration})
