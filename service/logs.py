"""Structured logs: one JSON object a line, on standard error."""

import logging
import sys
import traceback
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

import orjson

_STANDARD = frozenset(vars(logging.makeLogRecord({}))) | {"message", "taskName"}


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


def configure_logs(level: str) -> None:
    """Send every logger's lines through the one handler."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    # These would repeat what our own request line and our own retries say.
    logging.getLogger("aiohttp.access").disabled = True
    logging.getLogger("psycopg.pool").setLevel(logging.ERROR)
    # It calls every moment without a broker an error, again and again.
    logging.getLogger("aiokafka").setLevel(logging.CRITICAL)
