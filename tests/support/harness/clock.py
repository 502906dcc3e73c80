"""A wall clock that a test sets, for processes of their own: libfaketime."""

import os
from pathlib import Path

import pytest

TRUE_TIME = "+0"
LIBRARY = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)


class Clock:
    """The wall clock of some processes; their monotonic clocks are the true ones.

    ``words`` are those before a program that let it, and its children, go by it. They
    are not variables of a parent: setpriv would leave shared memory behind.
    """

    def __init__(self, folder: Path, offset: str = TRUE_TIME) -> None:
        self._file = folder / "clock"
        self.words = (
            "env",
            f"LD_PRELOAD={LIBRARY}",
            f"FAKETIME_TIMESTAMP_FILE={self._file}",
            "FAKETIME_NO_CACHE=1",
            "FAKETIME_DONT_FAKE_MONOTONIC=1",
        )
        self.set(offset)

    def set(self, offset: str) -> None:
        """Let it be off by so many seconds, such as ``+3600``."""
        # Replaced, as no reader may see a part of it.
        new = self._file.with_suffix(".new")
        new.write_text(f"{offset}\n")
        new.replace(self._file)


needs_faketime = [
    pytest.mark.thorough,
    pytest.mark.skipif(
        LIBRARY is None and "CI" not in os.environ,
        reason="needs libfaketime, of Debian's package faketime",
    ),
]
