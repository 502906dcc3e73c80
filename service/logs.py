"""Structured logs: one JSON object a line, on standard error."""

import logging
import sys
import threading
import time
import traceback
from collections.abc import Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, TextIO

import orjson

# Lines below a warning wait so long, or until there are so many, to be written
# together: a write for each request would cost more than the line itself.
FLUSH_INTERVAL_S = 0.2
LINES_WAITING_MAX = 500

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName"}
_UNKNOWN = vars(logging.LogRecord("", 0, "", 0, "", None, None))


class FieldsRecord(logging.LogRecord):
    """Words and fields, for a logger that is called with every request.

    It doesn't find out which line of code, thread and process logged it; that takes
    longer than everything else about a line.
    """

    def __init__(
        self, logger: logging.Logger, level: int, words: str, fields: Mapping[str, Any]
    ) -> None:
        # Not by the library's own, which finds out all of that.
        vars(self).update(_UNKNOWN)
        self.name = logger.name
        self.levelno = level
        self.levelname = logging.getLevelName(level)
        self.msg = words
        self.created = time.time()
        self.msecs = self.created % 1 * 1000
        self.fields = fields


class JsonFormatter(logging.Formatter):
    """A constant message and its fields.

    Of an exception only its type and its places in the code are written: its text
    can quote a statement or a value.
    """

    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        if isinstance(record, FieldsRecord):
            line.update(record.fields)
        else:
            line.update(
                (name, value)
                for name, value in vars(record).items()
                if name not in _STANDARD
            )
        if record.exc_info and record.exc_info[0]:
            line["error"] = record.exc_info[0].__name__
            line["at"] = _places(record.exc_info[2])
        return orjson.dumps(line, default=str, option=orjson.OPT_UTC_Z).decode()


def _places(trace: TracebackType | None) -> list[str]:
    return [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(trace, limit=-10)
    ]


class BufferedHandler(logging.StreamHandler[TextIO]):
    """Writes lines together; a warning, and what stands before it, at once.

    Only a process that is killed loses lines, those of the last moment.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._lines: list[str] = []
        self._closed = threading.Event()
        threading.Thread(target=self._keep_flushing, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.append(self.format(record))
            if (
                record.levelno >= logging.WARNING
                or len(self._lines) >= LINES_WAITING_MAX
            ):
                self.flush()
        except Exception:  # noqa: BLE001 # as every handler of the library does
            self.handleError(record)

    def flush(self) -> None:
        self.acquire()
        try:
            if self._lines:
                lines, self._lines = self._lines, []
                self.stream.write("\n".join([*lines, ""]))
            super().flush()
        finally:
            self.release()

    def close(self) -> None:
        self._closed.set()
        self.flush()
        super().close()

    def _keep_flushing(self) -> None:
        while not self._closed.wait(FLUSH_INTERVAL_S):
            if self._lines:
                self.flush()


def configure_logs(level: str) -> None:
    """Send every logger's lines through the one handler."""
    handler = BufferedHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # These would repeat what our own request line and our own retries say.
    logging.getLogger("aiohttp.access").disabled = True
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    # It calls every moment without a broker an error, again and again.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
