"""Tests of this folder need no server and no process, and can't start one."""

import os
import socket
import subprocess
from collections.abc import Iterator
from typing import Any, NoReturn

import pytest

from service.aggregates import AGGREGATES
from tests.support.event_log.in_memory import InMemoryLog
from tests.support.scenario import Scenario


def refuse(*_: Any, **__: Any) -> NoReturn:
    raise RuntimeError(
        "a test in tests/unit starts a process or a server: move it to"
        " tests/integration"
    )


@pytest.fixture(scope="module", autouse=True)
def no_process_and_no_server() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(subprocess.Popen, "__init__", refuse)
        patch.setattr(os, "fork", refuse)
        patch.setattr(os, "posix_spawn", refuse)
        patch.setattr(socket.socket, "bind", refuse)
        yield


@pytest.fixture
def scenario() -> Scenario:
    """Given aggregates, when a handler runs, then these events are recorded."""
    return Scenario(InMemoryLog(AGGREGATES))
