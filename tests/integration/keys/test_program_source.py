"""Root keys from a program, and sources that are unusable."""

import shlex
import sys
from pathlib import Path

import pytest

from service.errors import ConfigError
from service.keys.root_key import RootKeyUnavailableError
from service.keys.root_key_source import outside_root_keys
from tests.support.keys.settings import KEY, KEY_PROGRAM, WAIT_S, config, key_file

PROGRAM = shlex.join([sys.executable, str(KEY_PROGRAM)])


async def test_keys_of_a_program() -> None:
    given = config(ROOT_KEYS_PROGRAM=f"{PROGRAM} honest")
    root = await outside_root_keys(given, WAIT_S)
    assert root is not None
    assert root.primary_id == "kms:7"


async def test_unusable_sources_are_refused_without_showing_a_key(
    tmp_path: Path,
) -> None:
    for setting in (
        config(ROOT_KEYS_FILE=str(tmp_path / "missing")),
        config(ROOT_KEYS_FILE=key_file(tmp_path, mode=0o644)),
        config(ROOT_KEYS=f"new:{KEY}x"),
        config(ROOT_KEYS=KEY),
        config(ROOT_KEYS_PROGRAM=""),
    ):
        with pytest.raises(ConfigError) as refusal:
            await outside_root_keys(setting, WAIT_S)
        assert KEY[:10] not in str(refusal.value)
    with pytest.raises(RootKeyUnavailableError):
        await outside_root_keys(config(ROOT_KEYS_PROGRAM="/nowhere/kms"), WAIT_S)
