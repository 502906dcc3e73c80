"""Root keys of a key program, and what its failures are."""

import sys
import time

import pytest

from service.keys.cipher import OpenError
from service.keys.key_program import ExecRootKeys
from service.keys.root_key import (
    RootKeyUnavailableError,
    WrongRootKeyError,
)
from tests.support.keys.settings import KEY_PROGRAM


def key_program(mode: str) -> list[str]:
    return [sys.executable, str(KEY_PROGRAM), mode]


async def test_a_key_program_wraps_and_unwraps() -> None:
    keys = await ExecRootKeys.start(key_program("good"), deadline_s=60)
    assert keys.primary_id == "kms:7"
    assert set(keys.key_ids) == {"kms:6", "kms:7"}
    key_id, blob = await keys.wrap(b"\0user key", b"\0bound")
    assert key_id == "kms:7"
    assert await keys.unwrap(key_id, blob, b"\0bound") == b"\0user key"
    with pytest.raises(OpenError):
        await keys.unwrap(key_id, blob, b"elsewhere")
    with pytest.raises(WrongRootKeyError, match="kms:5"):
        await keys.unwrap("kms:5", blob, b"")


async def test_a_key_program_that_hangs_is_ended_at_the_deadline() -> None:
    keys = await ExecRootKeys.start(key_program("silent"), deadline_s=60)
    keys._deadline_s = 0.3  # noqa: SLF001 # shorter than its start takes
    started = time.monotonic()
    with pytest.raises(RootKeyUnavailableError, match="wrap: TimeoutError"):
        await keys.wrap(b"user key", b"")
    assert time.monotonic() - started < 60


async def test_a_key_program_that_fails_makes_the_key_unavailable() -> None:
    keys = await ExecRootKeys.start(key_program("broken"), deadline_s=60)
    with pytest.raises(RootKeyUnavailableError, match="wrap: exit status 1"):
        await keys.wrap(b"user key", b"")
    with pytest.raises(RootKeyUnavailableError, match="FileNotFoundError"):
        await ExecRootKeys.start(["/nonexistent/key-program"])


async def test_what_a_key_program_says_is_not_repeated() -> None:
    with pytest.raises(RootKeyUnavailableError) as refusal:
        await ExecRootKeys.start(key_program("chatty"), deadline_s=60)
    assert "swordfish" not in repr(refusal.value)
    assert refusal.value.__context__ is None
