"""The key that signs checkpoints."""

import stat
from pathlib import Path

import pytest

from projections.audit.proofs.signing_key import (
    SIGNING_KEY_FILE,
    load_or_create_signing_key,
)
from service.keys.root_key import KeyRingError


def test_the_key_is_made_once_and_kept_private(tmp_path: Path) -> None:
    path = tmp_path / SIGNING_KEY_FILE

    made = load_or_create_signing_key(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [each.name for each in tmp_path.iterdir()] == [SIGNING_KEY_FILE]
    again = load_or_create_signing_key(path)
    assert again.private_bytes_raw() == made.private_bytes_raw()


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_key_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / SIGNING_KEY_FILE
    load_or_create_signing_key(path)
    path.chmod(mode)

    with pytest.raises(KeyRingError, match="open to others"):
        load_or_create_signing_key(path)


@pytest.mark.parametrize("content", ["", "no key", "-----BEGIN PRIVATE KEY-----\n"])
def test_a_key_that_is_none_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / SIGNING_KEY_FILE
    path.write_text(content)
    path.chmod(0o600)

    with pytest.raises(KeyRingError, match="no private key"):
        load_or_create_signing_key(path)
