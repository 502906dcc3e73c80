"""Log lines that can't be written for a while are written later."""

import errno
import io
import logging
from collections.abc import Callable
from typing import Any

import orjson
import pytest

from service import logs as module
from service.logs import BufferedHandler, JsonFormatter
from tests.support.waiting import until_blocking

WAIT_S = 60.0


class Disk(io.RawIOBase):
    """A file on a disk that is full for a while."""

    def __init__(self) -> None:
        self.is_full = True
        self.failures = 0
        self.written = b""

    def writable(self) -> bool:
        return True

    def write(self, data: Any, /) -> int:
        if self.is_full:
            self.failures += 1
            raise OSError(errno.ENOSPC, "No space left on device")
        self.written += bytes(data)
        return len(data)

    def messages(self) -> list[str]:
        return [orjson.loads(line)["message"] for line in self.written.splitlines()]


def buffered(disk: Disk) -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BufferedWriter(disk), "utf-8", line_buffering=True)


def unbuffered(disk: Disk) -> io.TextIOWrapper:
    """Return what standard error is with ``PYTHONUNBUFFERED``."""
    return io.TextIOWrapper(disk, "utf-8", write_through=True)  # type: ignore[arg-type]


def line(number: int) -> logging.LogRecord:
    return logging.makeLogRecord(
        {"levelno": logging.INFO, "levelname": "INFO", "msg": f"line {number}"}
    )


# One block, which is one write, and several.
@pytest.mark.parametrize("count", [1, 200])
@pytest.mark.parametrize("opened", [buffered, unbuffered])
def test_lines_are_written_once_when_the_disk_has_room_again(
    opened: Callable[[Disk], io.TextIOWrapper],
    count: int,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "FLUSH_INTERVAL_S", 0.01)
    disk = Disk()
    handler = BufferedHandler(opened(disk))
    handler.setFormatter(JsonFormatter())
    for number in range(count):
        handler.handle(line(number))
    until_blocking(lambda: disk.failures >= 3, timeout_s=WAIT_S)

    disk.is_full = False

    until_blocking(lambda: disk.written.count(b"\n") >= count, timeout_s=WAIT_S)
    handler.close()
    assert disk.messages() == [f"line {number}" for number in range(count)]


@pytest.mark.parametrize("opened", [buffered, unbuffered])
def test_of_many_lines_the_newest_are_kept(
    monkeypatch: pytest.MonkeyPatch, opened: Callable[[Disk], io.TextIOWrapper]
) -> None:
    monkeypatch.setattr(module, "LINES_KEPT_MAX", 1000)
    monkeypatch.setattr(logging, "raiseExceptions", False)
    disk = Disk()
    handler = BufferedHandler(opened(disk))
    handler.setFormatter(JsonFormatter())
    for number in range(10_000):
        handler.handle(line(number))

    disk.is_full = False
    handler.close()

    messages = disk.messages()
    assert messages[-1000:] == [f"line {number}" for number in range(9000, 10_000)]
    # Those of the stream's own buffer, and those after the last attempt.
    assert len(messages) < 2000
