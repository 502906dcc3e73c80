"""Tools that a fault may need; without one it says so, and in CI it fails."""

import os
import shutil

import pytest

from tests.support.harness.clock import LIBRARY


class MissingToolError(Exception):
    """What this machine lacks for a fault."""


def require(tool: str) -> str:
    """Return the path of a program.

    :raises MissingToolError: it isn't installed
    """
    found = shutil.which(tool)
    if found is None:
        raise MissingToolError(f"there is no {tool}: apt-get install {tool}")
    return found


def libfaketime() -> str:
    """Return the path of the library that fakes a clock.

    :raises MissingToolError: it isn't installed
    """
    if LIBRARY is None:
        raise MissingToolError("there is no libfaketime: apt-get install libfaketime")
    return str(LIBRARY)


def require_root() -> None:
    """Expect to be root, who alone may mount.

    :raises MissingToolError: this is another user
    """
    if os.geteuid() != 0:
        raise MissingToolError("only root can mount a small disk")


def go_without(missing: MissingToolError) -> None:
    """Skip, but never in CI: there it would go unnoticed forever."""
    complaint = f"FAULT NOT TESTED: {missing}"
    if os.environ.get("CI"):
        pytest.fail(complaint)
    pytest.skip(complaint)
