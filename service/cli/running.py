"""Running a command's coroutine, its exit statuses, and its error messages."""

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, Final

from service.logs import escape_unprintable

EXIT_FAILED: Final = 1
# As a shell reports SIGPIPE.
EXIT_READER_LEFT: Final = 141
EXIT_CONFIG: Final = 78


def run_async(work: Coroutine[Any, Any, int]) -> int:
    import uvloop

    try:
        return uvloop.run(work)
    except asyncio.CancelledError:
        return EXIT_FAILED


def print_error(message: object) -> None:
    """Print an error on standard error, safe for a terminal; it may have lines."""
    # libpq indents its hints by tabs.
    lines = f"agent-runtime: {message}".expandtabs(4).split("\n")
    print("\n".join(map(escape_unprintable, lines)), file=sys.stderr)
