"""Log lines on standard error: text for a person, JSON objects for a program."""

import json
import logging
import os
import sys
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Literal, TextIO

import orjson

LogFormat = Literal["auto", "text", "json"]

# JSON lines below a warning are written together, after this time or this many
# lines: a write for each request would cost as much as the line itself.
FLUSH_INTERVAL_S = 0.2
LINES_WAITING_MAX = 500
# Lines that can't be written, because a disk is full: the newest are kept.
LINES_KEPT_MAX = 5_000
# Two processes may write to one pipe: it keeps each write of up to so many bytes
# together (PIPE_BUF of POSIX's systems, at least of Linux).
WRITE_BYTES_MAX = 4096
TRACEBACK_FRAMES_MAX = 10

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName"}
_UNKNOWN = vars(logging.LogRecord("", 0, "", 0, "", None, None))

_RESET, _DIM, _RED, _YELLOW = "\x1b[0m", "\x1b[2m", "\x1b[31m", "\x1b[33m"


class FieldsRecord(logging.LogRecord):
    """A record of a constant message and fields, cheap enough for every request.

    It leaves out the calling line, thread and process; finding those takes longer
    than everything else about a line. ``text`` is the template of the line in
    text format.
    """

    def __init__(
        self,
        logger: logging.Logger,
        level: int,
        message: str,
        fields: Mapping[str, Any],
        *,
        text: str,
    ) -> None:
        # LogRecord.__init__ would find out all of that.
        vars(self).update(_UNKNOWN)
        self.name = logger.name
        self.levelno = level
        self.levelname = logging.getLevelName(level)
        self.msg = message
        self.created = time.time()
        self.msecs = self.created % 1 * 1000
        self.fields = fields
        self.text = text


class JsonFormatter(logging.Formatter):
    """Formats a record as a JSON object: time, level, logger, message, fields.

    Of an exception only the type and the stack are written: its message can quote a
    statement or a secret. ``process`` is the name of this process, if it has one.
    """

    def __init__(self, *, process: str | None = None) -> None:
        super().__init__()
        self._named = {} if process is None else {"process": process}

    def format(self, record: logging.LogRecord) -> str:
        members: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **self._named,
        }
        members.update(_fields(record))
        line = orjson.dumps(members, default=str, option=orjson.OPT_UTC_Z).decode()
        if line.isascii() and "\x7f" not in line:
            return line
        return escape_unprintable(line)


class TextFormatter(logging.Formatter):
    """Formats a record as a short line: local time, level, message, fields.

    Exception messages are left out, as in JSON. Characters that a terminal could
    obey are escaped.
    """

    def __init__(self, *, colors: bool, process: str | None = None) -> None:
        super().__init__()
        self._colors = colors
        self._name = "" if process is None else f"[{process}] "

    def format(self, record: logging.LogRecord) -> str:
        fields = dict(_fields(record))
        stack = fields.pop("at", ())
        if isinstance(record, FieldsRecord):
            text = record.text.format_map(fields)
        else:
            text = record.getMessage()
            text += "".join(f" {name}={value}" for name, value in fields.items())
        lines = [escape_unprintable(text)]
        lines += (f"    {escape_unprintable(str(frame))}" for frame in stack)
        at = time.strftime("%H:%M:%S", time.localtime(record.created))
        level = f"{record.levelname:<8}"
        if self._colors:
            at = f"{_DIM}{at}{_RESET}"
            if record.levelno >= logging.WARNING:
                color = _RED if record.levelno >= logging.ERROR else _YELLOW
                level = f"{color}{level}{_RESET}"
        return f"{at} {level} {self._name}" + "\n".join(lines)


def _fields(record: logging.LogRecord) -> Mapping[str, Any]:
    if isinstance(record, FieldsRecord):
        return record.fields
    fields = {
        name: value for name, value in vars(record).items() if name not in _STANDARD
    }
    if record.exc_info and record.exc_info[0]:
        fields["error"] = record.exc_info[0].__name__
        fields["at"] = _stack(record.exc_info[2])
    return fields


def _stack(trace: TracebackType | None) -> list[str]:
    return [
        f"{frame.filename}:{frame.lineno} {frame.name}"
        for frame in traceback.extract_tb(trace, limit=-TRACEBACK_FRAMES_MAX)
    ]


def escape_unprintable(text: str) -> str:
    r"""Return the text with control and formatting characters as JSON escapes.

    ``\u001b`` for ESC, for example: nothing in it can move a terminal's cursor or
    reverse the direction of its text.
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() else json.dumps(char)[1:-1] for char in text
    )


class BufferedHandler(logging.StreamHandler[TextIO]):
    """Writes lines together; a warning, and the lines before it, at once.

    Lines that can't be written are kept for the next time, ``LINES_KEPT_MAX`` of them.
    A killed process loses those of the last ``FLUSH_INTERVAL_S``.
    """

    def __init__(self, stream: TextIO) -> None:
        super().__init__(stream)
        self._lines: list[str] = []
        self._stopped = threading.Event()
        threading.Thread(target=self._keep_flushing, daemon=True).start()

    def emit(self, record: logging.LogRecord) -> None:
        try:
            self._lines.append(self.format(record))
            if (
                record.levelno >= logging.WARNING
                or len(self._lines) % LINES_WAITING_MAX == 0
            ):
                self.flush()
        except Exception:  # noqa: BLE001 # as every handler of the library does
            self.handleError(record)

    def flush(self) -> None:
        block = ""
        blocks: Iterator[str] = iter(())
        self.acquire()
        try:
            if getattr(self.stream, "closed", False):
                self._lines = []
                return
            # What the stream still has comes first; if that fails, no line is taken.
            super().flush()
            lines, self._lines = self._lines, []
            blocks = _blocks(lines)
            for block in blocks:
                self.stream.write(block)
                super().flush()
        except OSError:
            # A stream with a buffer keeps the block that it couldn't write.
            failed = block if getattr(self.stream, "write_through", False) else ""
            unwritten = failed + "".join(blocks)
            waiting = [*unwritten.splitlines(), *self._lines]
            self._lines = waiting[-LINES_KEPT_MAX:]
            raise
        finally:
            self.release()

    def close(self) -> None:
        self._stopped.set()
        self.flush()
        super().close()

    def _keep_flushing(self) -> None:
        while not self._stopped.wait(FLUSH_INTERVAL_S):
            # What can't be written now, as on a full disk, is tried again. It may be in
            # the stream's own buffer.
            with suppress(OSError, ValueError):
                self.flush()


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    """Join lines into texts that a pipe doesn't mix with another process's lines."""
    block: list[str] = []
    room = WRITE_BYTES_MAX
    for line in lines:
        # Lines are ASCII but for names of files, which are in few of them.
        size = len(line if line.isascii() else line.encode()) + 1
        if size > room and block:
            yield "\n".join([*block, ""])
            block, room = [], WRITE_BYTES_MAX
        block.append(line)
        room -= size
    if block:
        yield "\n".join([*block, ""])


def configure_logs(
    level: str, log_format: LogFormat, *, process: str | None = None
) -> None:
    """Send every logger's lines to standard error; ``auto`` is text on a terminal."""
    is_terminal = sys.stderr.isatty()
    handler: logging.Handler
    if log_format == "text" or (log_format == "auto" and is_terminal):
        handler = logging.StreamHandler(sys.stderr)
        handler.setFormatter(
            TextFormatter(colors=is_terminal and _wants_colors(), process=process)
        )
    else:
        handler = BufferedHandler(sys.stderr)
        handler.setFormatter(JsonFormatter(process=process))
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # These would repeat what our own request line and our own retries say.
    logging.getLogger("aiohttp.access").disabled = True
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    # It logs an error repeatedly while no broker can be reached.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)


def _wants_colors() -> bool:
    # https://no-color.org: present and not empty means no colours.
    return not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
