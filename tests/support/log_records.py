"""What some loggers said; other parts of a running service may log at any time."""

import logging

import pytest


def said_by(caplog: pytest.LogCaptureFixture, *loggers: str) -> list[logging.LogRecord]:
    """Return the records of loggers and of those below them."""
    return [
        record
        for record in caplog.records
        if any(f"{record.name}.".startswith(f"{name}.") for name in loggers)
    ]
