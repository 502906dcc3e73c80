"""The file of a backup: a zip archive with one member for each table.

``backup.json`` describes it and is written last, so that a file without it is not
complete. Each other member holds a table's rows as ``COPY`` writes them, as text, which
any version of PostgreSQL reads. ``checkpoints/`` has the signed checkpoints.
"""

import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from service.errors import ConfigError

FORMAT: Final = 1
DESCRIPTION: Final = "backup.json"
CHECKPOINTS: Final = "checkpoints"
# Not the files that the signer is still writing.
CHECKPOINT_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
CHUNK_BYTES: Final = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of schema ``events``, its columns and its number of rows."""

    name: str
    columns: list[str]
    rows: int

    @property
    def member(self) -> str:
        return f"events/{self.name}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """The contents of a backup.

    ``migrations`` are names and hashes of those applied; ``canaries`` prove whether a
    key ring is the right one: root key ids, each with bytes sealed under it, in hex.
    """

    version: str
    log_id: str
    epoch: str
    position: int
    migrations: dict[str, str]
    canaries: dict[str, str]
    tables: list[Table]

    def to_json(self) -> str:
        return json.dumps({"format": FORMAT, **asdict(self)}, indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Description":
        given: dict[str, Any] = json.loads(text)
        if given.pop("format") != FORMAT:
            raise ValueError("another format")
        tables = [Table(**table) for table in given.pop("tables")]
        return cls(**given, tables=tables)


@contextmanager
def new_archive(path: Path) -> Iterator[zipfile.ZipFile]:
    """Write an archive under another name, and rename it when it is complete.

    :raises ConfigError: the file exists, or can't be written, or what goes into it
        can't be read
    """
    if path.exists():
        raise ConfigError(f"{path} exists; choose another file")
    partial = path.with_name(path.name + ".partial")
    try:
        # It holds what a database's administrator sees, which is not for everybody.
        descriptor = os.open(partial, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise ConfigError(f"can't write {partial}: {error.strerror}") from None
    try:
        with os.fdopen(descriptor, "w+b") as file:
            with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
                yield archive
            file.flush()
            os.fsync(file.fileno())
        partial.rename(path)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ConfigError(f"can't make the backup {path}: {error}") from None
    except BaseException:
        partial.unlink(missing_ok=True)
        raise


@contextmanager
def open_archive(path: Path) -> Iterator[tuple[zipfile.ZipFile, Description]]:
    """Open a backup after checking that all of it is there, unharmed.

    :raises ConfigError: it isn't a backup, is incomplete or damaged
    """
    with _opened(path) as archive:
        yield archive, _checked(path, archive)


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except OSError as error:
        raise ConfigError(f"can't read {path}: {error.strerror}") from None
    except zipfile.BadZipFile:
        raise _not_a_backup(path) from None


def _checked(path: Path, archive: zipfile.ZipFile) -> Description:
    try:
        damaged = archive.testzip()
        description = Description.from_json(archive.read(DESCRIPTION).decode())
        for table in description.tables:
            archive.getinfo(table.member)
    except (zipfile.BadZipFile, zlib.error, KeyError, TypeError, ValueError):
        raise _not_a_backup(path) from None
    if damaged is not None:
        raise ConfigError(f"{path} is damaged: {damaged}")
    return description


def _not_a_backup(path: Path) -> ConfigError:
    return ConfigError(f"{path} is not a backup of this service, or not all of one")
