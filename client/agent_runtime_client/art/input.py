"""What commands read: files, standard input and the terminal."""

import sys
from getpass import getpass
from pathlib import Path
from typing import IO, Any

from agent_runtime_client.secret import Secret


def is_terminal(stream: IO[Any] | None) -> bool:
    """Say whether a person is at the other end; a closed stream is None."""
    return stream is not None and stream.isatty()


def read_bytes(name: str) -> bytes:
    """Return the content of a file, or of standard input for ``-``."""
    if name != "-":
        return Path(name).read_bytes()
    return b"" if sys.stdin is None else sys.stdin.buffer.read()


def read_secret(name: str) -> Secret:
    """Ask for a secret without showing it, or read it from standard input.

    The line end of a single line is left out, as ``echo`` adds one; otherwise every
    byte is kept: a key file needs its last line end.

    :raises ValueError: nothing was given, or it isn't UTF-8
    """
    if is_terminal(sys.stdin):
        try:
            typed = getpass(f"{name} (not shown): ")
        except EOFError:
            typed = ""
        if not typed:
            raise ValueError(f"no {name} was given")
        return Secret(typed)
    content = read_bytes("-")
    if content.count(b"\n") == 1 and content.endswith(b"\n"):
        content = content.removesuffix(b"\n").removesuffix(b"\r")
    if not content:
        raise ValueError(f"no {name} was given on standard input")
    try:
        return Secret(content.decode())
    except UnicodeDecodeError as error:
        # The error holds the secret.
        start = error.start
    raise ValueError(
        f"the {name} is not UTF-8 text at byte {start}, and JSON carries only text: "
        "encode it first, for example by base64"
    )
