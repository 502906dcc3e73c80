"""The file of a backup: a zip archive with one member for each table.

``backup.json`` describes it. Each other member holds a table's rows as ``COPY`` writes
them, as text, which any version of PostgreSQL reads. ``checkpoints/`` has the signed
checkpoints. The comment of the archive, which is the end of the file, has the SHA-256
digest of all bytes before it: a ZIP's own checksums leave out its headers.
"""

import hashlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, Final

from service.errors import ConfigError

FORMAT: Final = 2
# Without a digest.
FIRST_FORMAT: Final = 1
DIGEST_NAME: Final = b"sha256:"
DIGEST_BYTES: Final = 2 * hashlib.sha256().digest_size
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
    A file of the first ``format`` has no digest.
    """

    version: str
    log_id: str
    epoch: str
    position: int
    migrations: dict[str, str]
    canaries: dict[str, str]
    tables: list[Table]
    format: int = FORMAT

    def to_json(self) -> str:
        return json.dumps(asdict(self), indent=1)

    @classmethod
    def from_json(cls, text: str) -> "Description":
        given: dict[str, Any] = json.loads(text)
        if given["format"] not in {FIRST_FORMAT, FORMAT}:
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
                archive.comment = DIGEST_NAME + bytes(DIGEST_BYTES)
                yield archive
            digest = _digest(file)
            file.seek(-DIGEST_BYTES, os.SEEK_END)
            file.write(digest)
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
    with _file(path) as file:
        has_digest = _has_digest(path, file)
        with _opened(path, file) as archive:
            yield archive, _checked(path, archive, has_digest=has_digest)


def _file(path: Path) -> IO[bytes]:
    try:
        return path.open("rb")
    except OSError as error:
        raise ConfigError(f"can't read {path}: {error.strerror}") from None


def _digest(file: IO[bytes]) -> bytes:
    """Return the digest of all that is before it in the file, as it is written."""
    left = file.seek(0, os.SEEK_END) - DIGEST_BYTES
    file.seek(0)
    digest = hashlib.sha256()
    while part := file.read(min(left, CHUNK_BYTES)):
        digest.update(part)
        left -= len(part)
    return digest.hexdigest().encode()


def _has_digest(path: Path, file: IO[bytes]) -> bool:
    """Tell whether the file ends with a digest.

    :raises ConfigError: it is the digest of another file
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - len(DIGEST_NAME) - DIGEST_BYTES))
    end = file.read()
    if not end.startswith(DIGEST_NAME):
        return False
    if _digest(file) != end.removeprefix(DIGEST_NAME):
        raise ConfigError(f"{path} is damaged: its bytes don't have its digest")
    return True


def _opened(path: Path, file: IO[bytes]) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(file)
    except zipfile.BadZipFile:
        raise _not_a_backup(path) from None


def _checked(path: Path, archive: zipfile.ZipFile, *, has_digest: bool) -> Description:
    try:
        damaged = None if has_digest else archive.testzip()
        description = Description.from_json(archive.read(DESCRIPTION).decode())
        for table in description.tables:
            archive.getinfo(table.member)
    except (zipfile.BadZipFile, zlib.error, KeyError, TypeError, ValueError):
        raise _not_a_backup(path) from None
    if damaged is not None:
        raise ConfigError(f"{path} is damaged: {damaged}")
    if description.format != FIRST_FORMAT and not has_digest:
        raise ConfigError(f"{path} is damaged: its digest is missing at its end")
    return description


def _not_a_backup(path: Path) -> ConfigError:
    return ConfigError(f"{path} is not a backup of this service, or not all of one")
