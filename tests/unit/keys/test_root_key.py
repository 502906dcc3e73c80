import base64
import pickle
import re
from pathlib import Path

import pytest

from service.keys.cipher import Key, OpenError
from service.keys.root_key import (
    KeyRingError,
    LocalRootKeys,
    WrongRootKeyError,
    encode_key,
    new_root_key,
)

NEW, OLD = (base64.b64encode(bytes([n]) * 32).decode() for n in (1, 2))
SETTING = f"k-20260102-00000002:{NEW},k-20260101-00000001:{OLD}"


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


async def test_wrapping_needs_a_primary_root_key() -> None:
    keys = LocalRootKeys({}, primary_id=None)
    with pytest.raises(KeyRingError, match="primary"):
        await keys.wrap(b"", b"")
    with pytest.raises(KeyRingError, match="primary"):
        LocalRootKeys({}, primary_id="k-1")
