"""Says on the terminal that a call takes long, and for how long it has."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

SHOWN_AFTER_S: Final = 1.0
STEP_S: Final = 0.5


@contextmanager
def showing_wait(what: str, *, since: float | None = None) -> Iterator[None]:
    """Show on standard error how long ``what`` takes, if it takes over a second.

    ``since`` is when it began, by the monotonic clock, if that was before.

    Only on a terminal; the line is removed when the block ends. How much is left to do
    is not shown, as the service doesn't say so.
    """
    if not sys.stderr.isatty():
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(
        target=_show, args=(what, ended, since or time.monotonic()), daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _show(what: str, ended: threading.Event, since: float) -> None:
    wait_s, width = max(0.0, since + SHOWN_AFTER_S - time.monotonic()), 0
    while not ended.wait(wait_s):
        line = f"waiting for {what}: {time.monotonic() - since:.0f} s"
        width = max(width, len(line))
        sys.stderr.write(f"\r{line:<{width}}")
        sys.stderr.flush()
        wait_s = STEP_S
    if width:
        sys.stderr.write("\r" + " " * width + "\r")
        sys.stderr.flush()
