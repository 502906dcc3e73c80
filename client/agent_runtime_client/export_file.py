"""An export on disk while it is being written, so that a break loses nothing."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from agent_runtime_client.operation import query_of
from agent_runtime_client.proofs.export_end import end_of

CHUNK_BYTES: Final = 1024 * 1024


class Exported(NamedTuple):
    """A finished export: its file, and the last position that it covers."""

    path: Path
    until_position: int


class Records:
    """Splits bytes into whole records: a line, or a line of CSV with all its quotes."""

    def __init__(self, *, is_csv: bool) -> None:
        self._is_csv = is_csv
        self._rest = b""

    def take(self, chunk: bytes) -> bytes:
        """Return the records that are whole now; keep the rest."""
        data = self._rest + chunk
        end = data.rfind(b"\n") + 1
        while self._is_csv and data.count(b'"', 0, end) % 2:
            end = data.rfind(b"\n", 0, end - 1) + 1
        self._rest = data[end:]
        return data[:end]


class ExportFile:
    """``path`` with ``.part``, and beside it what it is an export of.

    It always can be continued: by the same call in this or a later process.
    """

    def __init__(self, path: Path, query: Mapping[str, Any], *, is_csv: bool) -> None:
        self._path = path
        self._part = path.with_name(path.name + ".part")
        self._notes = path.with_name(path.name + ".part.json")
        self._is_csv = is_csv
        self._asked: dict[str, Any] = {"csv": is_csv, **query_of(query)}
        self.until: int | None = None
        self.epoch: str | None = None
        self.position: int | None = None
        self.is_whole = False
        self._is_empty = True
        self._resume()

    @property
    def rest(self) -> dict[str, int]:
        """The parameters that ask for what is missing."""
        rest = {}
        if self.position is not None:
            rest["from_position"] = self.position + 1
        if self.until is not None:
            rest["until_position"] = self.until
        return rest

    def begin(self, until: int, epoch: str | None) -> None:
        """Start a file that ends with the log's present end, unless it continues."""
        if self.until is not None:
            return
        until = min(until, int(self._asked.get("until_position", until)))
        self.until, self.epoch = until, epoch
        self._part.write_bytes(b"")
        notes = {"asked": self._asked, "until": until, "epoch": epoch}
        self._notes.write_text(json.dumps(notes), encoding="utf-8")

    def append(self, records: bytes) -> None:
        """Add whole records; ``position`` is then that of the last one.

        ``is_whole`` when they have the end.
        """
        if self._is_csv and not self._is_empty:
            # A continued export begins with its column names again.
            records = records.removeprefix(_first_line(records, b"position,"))
        if not records:
            return
        with self._part.open("ab") as file:
            file.write(records)
        self._is_empty = False
        self._note(records)

    def finish(self) -> Exported:
        """Give the file its name."""
        assert self.until is not None
        self._part.replace(self._path)
        self._notes.unlink()
        return Exported(self._path, self.until)

    def _note(self, records: bytes) -> None:
        records, self.is_whole = _without_end(records, is_csv=self._is_csv)
        found = _last_position(records, is_csv=self._is_csv)
        self.position = self.position if found is None else found

    def _resume(self) -> None:
        try:
            notes = json.loads(self._notes.read_text("utf-8"))
            size = self._part.stat().st_size
        except (OSError, ValueError):
            return
        if notes.get("asked") != self._asked:
            return
        self.until, self.epoch = notes["until"], notes["epoch"]
        splitter = Records(is_csv=self._is_csv)
        whole = 0
        with self._part.open("r+b") as file:
            while chunk := file.read(CHUNK_BYTES):
                records = splitter.take(chunk)
                whole += len(records)
                self._note(records)
            if whole < size:
                file.truncate(whole)
        self._is_empty = not whole


def _first_line(records: bytes, start: bytes) -> bytes:
    """Return the first line if it begins like that."""
    return records[: records.index(b"\n") + 1] if records.startswith(start) else b""


def has_end(records: bytes, *, is_csv: bool) -> bool:
    """Return whether whole records are the last of an export."""
    return _without_end(records, is_csv=is_csv)[1]


def _without_end(records: bytes, *, is_csv: bool) -> tuple[bytes, bool]:
    """Return records without the end of an export, and whether they had it."""
    before, _, last = records.removesuffix(b"\n").rpartition(b"\n")
    if is_csv:
        # With an odd number of quotes it is the rest of a cell with several lines.
        is_end = last.startswith(b"end,,") and last.count(b'"') % 2 == 0
    else:
        is_end = bool(last) and end_of(json.loads(last)) is not None
    return (before + b"\n" if before else b"", True) if is_end else (records, False)


def _last_position(records: bytes, *, is_csv: bool) -> int | None:
    """Return the position of the last record; None where there is only a header."""
    if not is_csv:
        last = records.rstrip(b"\n").rpartition(b"\n")[2]
        return int(json.loads(last)["position"]) if last else None
    lines = records.split(b"\n")
    end = len(lines) - 1
    for start in range(end - 1, -1, -1):
        # A record begins where the quotes behind it are all closed.
        if b"\n".join(lines[start:end]).count(b'"') % 2 == 0:
            cell = lines[start].partition(b",")[0]
            return int(cell) if cell.isdigit() else None
    return None
