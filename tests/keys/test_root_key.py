import base64
import pickle
import re
import sys
import time
from pathlib import Path

import pytest

from service.keys.cipher import Key, OpenError
from service.keys.key_program import ExecRootKeys
from service.keys.root_key import (
    KeyRingError,
    LocalRootKeys,
    RootKeyUnavailableError,
    WrongRootKeyError,
    encode_key,
    new_root_key,
)

NEW, OLD = (base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2))
SETTING = f"k-20260102-00000002:{NEW},k-20260101-00000001:{OLD}"
PROGRAM = str(Path(__file__).with_name("key_program.py"))


def key_program(mode: str) -> list[str]:
    return [sys.executable, PROGRAM, mode]


async def test_the_first_root_key_of_a_setting_wraps_and_all_unwrap() -> None:
    before = LocalRootKeys.parse(f"k-20260101-00000001:{OLD}")
    after = LocalRootKeys.parse(SETTING)
    key_id, blob = await before.wrap(b"user key", b"bound")
    assert key_id == "k-20260101-00000001"
    assert await after.unwrap(key_id, blob, b"bound") == b"user key"
    assert (await after.wrap(b"user key", b""))[0] == "k-20260102-00000002"


async def test_a_blob_opens_only_as_it_was_wrapped() -> None:
    keys = LocalRootKeys.parse(SETTING)
    key_id, blob = await keys.wrap(b"user key", b"bound")
    flipped = [
        bytes([*blob[:n], blob[n] ^ 1, *blob[n + 1 :]]) for n in range(len(blob))
    ]
    for bad in (*flipped, b"", blob[:5], blob[:-1]):
        with pytest.raises(OpenError):
            await keys.unwrap(key_id, bad, b"bound")
    with pytest.raises(OpenError):
        await keys.unwrap(key_id, blob, b"elsewhere")
    with pytest.raises(OpenError):
        await keys.unwrap("k-20260101-00000001", blob, b"bound")
    with pytest.raises(WrongRootKeyError, match="k-20250101-00000000"):
        await keys.unwrap("k-20250101-00000000", blob, b"bound")


@pytest.mark.parametrize(
    "setting",
    [
        "",
        "swordfish",
        f":{NEW}",
        "k-1:swordfish",
        f"k-1:{NEW[:-4]}",
        f"k-1:{NEW},,",
        f"k-1:{NEW},k-1:{OLD}",
        f"k 1:{NEW}",
        f"k-1:{NEW}é",
    ],
)
def test_a_malformed_setting_is_refused_without_being_repeated(setting: str) -> None:
    with pytest.raises(KeyRingError) as refusal:
        LocalRootKeys.parse(setting)
    assert "swordfish" not in str(refusal.value)
    assert NEW[:8] not in str(refusal.value)


def test_a_credential_file_is_read_if_closed_to_others(tmp_path: Path) -> None:
    path = tmp_path / "root-key"
    path.write_text(SETTING.replace(",", "\n") + "\n")
    path.chmod(0o440)  # as systemd shows a file with an access list
    assert LocalRootKeys.from_credential(path).primary_id == "k-20260102-00000002"
    path.chmod(0o444)
    with pytest.raises(KeyRingError, match="open to others"):
        LocalRootKeys.from_credential(path)


def test_a_new_root_key_is_a_setting() -> None:
    key_id, key = new_root_key()
    assert re.fullmatch(r"k-\d{8}-[0-9a-f]{8}", key_id)
    assert LocalRootKeys.parse(f"{key_id}:{encode_key(key)}").primary_id == key_id


def test_root_keys_show_nowhere() -> None:
    keys = LocalRootKeys({"k-1": Key(b"s" * 32)}, primary_id="k-1")
    assert repr(keys) == "LocalRootKeys(primary_id='k-1', keys=1)"
    with pytest.raises(TypeError):
        pickle.dumps(keys)


async def test_without_a_primary_root_key_nothing_is_wrapped() -> None:
    keys = LocalRootKeys({}, primary_id=None)
    with pytest.raises(KeyRingError, match="primary"):
        await keys.wrap(b"", b"")
    with pytest.raises(KeyRingError, match="primary"):
        LocalRootKeys({}, primary_id="k-1")


@pytest.mark.processes
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


@pytest.mark.processes
async def test_a_key_program_that_hangs_is_ended_at_the_deadline() -> None:
    keys = await ExecRootKeys.start(key_program("silent"), deadline_s=60)
    keys._deadline_s = 0.3  # noqa: SLF001 # shorter than its start takes
    started = time.monotonic()
    with pytest.raises(RootKeyUnavailableError, match="wrap: TimeoutError"):
        await keys.wrap(b"user key", b"")
    assert time.monotonic() - started < 60


@pytest.mark.processes
async def test_a_key_program_that_fails_makes_the_key_unavailable() -> None:
    keys = await ExecRootKeys.start(key_program("broken"), deadline_s=60)
    with pytest.raises(RootKeyUnavailableError, match="wrap: exit status 1"):
        await keys.wrap(b"user key", b"")
    with pytest.raises(RootKeyUnavailableError, match="FileNotFoundError"):
        await ExecRootKeys.start(["/nonexistent/key-program"])


@pytest.mark.processes
async def test_what_a_key_program_says_is_not_repeated() -> None:
    with pytest.raises(RootKeyUnavailableError) as refusal:
        await ExecRootKeys.start(key_program("chatty"), deadline_s=60)
    assert "swordfish" not in repr(refusal.value)
    assert refusal.value.__context__ is None
