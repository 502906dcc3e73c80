"""Running a command's coroutine, its exit statuses, and its error messages."""

import asyncio
import sys
from collections.abc import Coroutine
from io import TextIOWrapper
from typing import Any, Final

from service.errors import ConfigError
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


def require_utf8() -> None:
    """Require that names of files are UTF-8; write UTF-8, whatever PYTHONIOENCODING is.

    :raises ConfigError: the locale has another encoding
    """
    if sys.getfilesystemencoding() != "utf-8":
        raise ConfigError(
            f"the encoding of file names is {sys.getfilesystemencoding()}, not UTF-8:"
            " set PYTHONUTF8=1, or LC_ALL=C.UTF-8"
        )
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def print_error(message: object) -> None:
    """Print an error on standard error, safe for a terminal; it may have lines."""
    # libpq indents its hints by tabs.
    lines = f"agent-runtime: {message}".expandtabs(4).split("\n")
    print("\n".join(map(escape_unprintable, lines)), file=sys.stderr)
