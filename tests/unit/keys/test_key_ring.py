import json
import pickle
import stat
from pathlib import Path
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.keys.cipher import OpenError
from service.keys.key_ring import KeyRing
from service.keys.key_ring_file import parse
from service.keys.root_key import (
    KeyRingError,
    LocalRootKeys,
    WrongRootKeyError,
    encode_key,
    new_root_key,
)

ADA, BOB = UUID(int=1), UUID(int=2)


def outside_root() -> LocalRootKeys:
    key_id, key = new_root_key()
    return LocalRootKeys.parse(f"{key_id}:{encode_key(key)}")


def keys_in(path: Path) -> dict[str, dict[str, str]]:
    members = json.loads(path.read_text())
    return {name: members[name] for name in ("root_keys", "purpose_keys")}


def test_a_ring_is_made_once_and_for_its_owner_only(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    made = KeyRing.load_or_create(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert sorted(p.name for p in tmp_path.iterdir()) == ["keys.json", "keys.json.lock"]
    found = KeyRing.load_or_create(path)
    assert (found.primary_id, found.key_ids) == (made.primary_id, made.key_ids)
    assert found.purpose_check() == made.purpose_check()


def test_a_ring_that_must_exist_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(KeyRingError, match="no key ring"):
        KeyRing.load(tmp_path / "keys.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o620, 0o610])
def test_a_ring_open_to_others_is_refused(ring_path: Path, mode: int) -> None:
    ring_path.chmod(mode)
    with pytest.raises(KeyRingError, match=f"open to others: mode {mode:04o}"):
        KeyRing.load_or_create(ring_path)


def test_every_damage_is_noticed_and_no_key_repeated(ring_path: Path) -> None:
    content = ring_path.read_bytes()
    keys = [key for group in keys_in(ring_path).values() for key in group.values()]
    damaged = [content[:size] for size in range(len(content) - 2)]
    for position in range(len(content) * 8):
        flipped = bytearray(content)
        flipped[position // 8] ^= 1 << position % 8
        if flipped.rstrip() != content.rstrip():
            damaged.append(bytes(flipped))
    for bad in damaged:
        with pytest.raises(KeyRingError) as refusal:
            parse(ring_path, bad.decode("ascii", errors="replace"))
        assert str(ring_path) in str(refusal.value)
        assert not any(key in str(refusal.value) for key in keys)
        assert refusal.value.__context__ is None


def test_a_damaged_file_stops_the_start(ring_path: Path) -> None:
    ring_path.write_bytes(ring_path.read_bytes()[:100])
    with pytest.raises(KeyRingError, match="damaged"):
        KeyRing.load_or_create(ring_path)


async def test_a_root_key_is_added_then_promoted_then_removed(ring_path: Path) -> None:
    ring = KeyRing.load(ring_path)
    old_id, blob = await ring.wrap(b"user key", b"bound")
    new_id = ring.replace_primary()
    assert ring.primary_id == new_id
    assert set(ring.key_ids) == {old_id, new_id}
    assert (await ring.wrap(b"", b""))[0] == new_id
    assert await ring.unwrap(old_id, blob, b"bound") == b"user key"
    with pytest.raises(KeyRingError, match=f"{new_id} is the primary"):
        ring.remove_root_key(new_id)
    kept = ring.remove_root_key(old_id)
    with pytest.raises(WrongRootKeyError, match=old_id):
        await ring.unwrap(old_id, blob, b"bound")
    assert await KeyRing.load(kept).unwrap(old_id, blob, b"bound") == b"user key"
    with pytest.raises(KeyRingError, match=f"no root key {old_id}"):
        ring.remove_root_key(old_id)


def test_every_root_key_that_is_removed_is_kept_in_a_ring_that_can_be_used(
    ring_path: Path,
) -> None:
    first_id = KeyRing.load(ring_path).primary_id
    second_id = KeyRing.load(ring_path).replace_primary()
    ring = KeyRing.load(ring_path, root=outside_root())

    kept = [ring.remove_root_key(each) for each in (second_id, first_id)]

    assert [KeyRing.load(each).key_ids for each in kept] == [
        {first_id, second_id},
        {first_id},
    ]
    assert {stat.S_IMODE(each.stat().st_mode) for each in kept} == {0o600}


def test_a_changed_ring_is_still_for_its_owner_only(ring_path: Path) -> None:
    KeyRing.load(ring_path).replace_primary()
    assert stat.S_IMODE(ring_path.stat().st_mode) == 0o600


async def test_a_rotation_by_another_process_is_noticed(ring_path: Path) -> None:
    serving, rotating = KeyRing.load(ring_path), KeyRing.load(ring_path)
    new_id = rotating.replace_primary()
    _, blob = await rotating.wrap(b"user key", b"bound")
    assert await serving.unwrap(new_id, blob, b"bound") == b"user key"
    newest_id = rotating.replace_primary()
    assert (await serving.wrap(b"user key", b""))[0] == newest_id


async def test_root_keys_from_outside_wrap_and_the_file_still_unwraps(
    ring_path: Path,
) -> None:
    inside = KeyRing.load(ring_path)
    old_id, blob = await inside.wrap(b"user key", b"bound")
    root = outside_root()
    ring = KeyRing.load(ring_path, root=root)
    assert ring.primary_id == root.primary_id
    assert set(ring.key_ids) == {root.primary_id, old_id}
    assert await ring.unwrap(old_id, blob, b"bound") == b"user key"
    key_id, blob = await ring.wrap(b"user key", b"bound")
    assert await ring.unwrap(key_id, blob, b"bound") == b"user key"
    with pytest.raises(OpenError):
        await ring.unwrap(key_id, blob, b"elsewhere")
    ring.remove_root_key(old_id)
    with pytest.raises(KeyRingError, match="no primary root key"):
        KeyRing.load(ring_path)


class GrowingRootKeys(LocalRootKeys):
    """Root keys kept where somebody adds one."""

    async def refresh(self) -> None:
        self._keys |= LocalRootKeys.parse("added:" + "B" * 42 + "A=")._keys  # noqa: SLF001 # keys are never public


async def test_a_root_key_added_outside_is_noticed_when_it_is_needed(
    tmp_path: Path,
) -> None:
    added = LocalRootKeys.parse("added:" + "B" * 42 + "A=")
    first = outside_root()
    root = GrowingRootKeys(first._keys, primary_id=first.primary_id)  # noqa: SLF001 # keys are never public
    ring = KeyRing.load_or_create(tmp_path / "keys.json", root=root)
    _, blob = await added.wrap(b"user key", b"bound")
    assert await ring.unwrap("added", blob, b"bound") == b"user key"
    with pytest.raises(WrongRootKeyError, match="missing-1"):
        await ring.unwrap("missing-1", blob, b"bound")


def test_a_ring_around_an_outside_root_key_holds_none_itself(tmp_path: Path) -> None:
    path = tmp_path / "keys.json"
    root = outside_root()
    assert KeyRing.load_or_create(path, root=root).key_ids == root.key_ids
    assert keys_in(path)["root_keys"] == {}


@given(one=st.text(max_size=50), other=st.text(max_size=50))
def test_fingerprints_recognise_equal_values_of_one_owner(
    shared_ring: KeyRing, one: str, other: str
) -> None:
    ring = shared_ring
    fingerprint = ring.fingerprint(ADA, one)
    assert len(bytes.fromhex(fingerprint)) == 16
    assert (fingerprint == ring.fingerprint(ADA, other)) == (one == other)
    assert fingerprint != ring.fingerprint(BOB, one)
    assert len(ring.token_hash(one)) == 32
    assert (ring.token_hash(one) == ring.token_hash(other)) == (one == other)


def test_request_fingerprints_keep_the_parts_apart(shared_ring: KeyRing) -> None:
    ring = shared_ring
    seen = {
        ring.request_fingerprint(*parts)
        for parts in ([], [b""], [b"ab", b"c"], [b"a", b"bc"], [b"abc"], [b"value"])
    }
    assert len(seen) == 6
    assert {len(one) for one in seen} == {32}
    again = ring.request_fingerprint(b"ab", b"c")
    assert again in seen


def test_rings_share_nothing(tmp_path: Path) -> None:
    one, other = (KeyRing.load_or_create(tmp_path / name) for name in ("a", "b"))
    assert one.purpose_check() != other.purpose_check()
    assert one.token_hash("art_x") != other.token_hash("art_x")
    assert one.fingerprint(ADA, "x") != other.fingerprint(ADA, "x")


def test_a_ring_shows_no_key(ring_path: Path) -> None:
    ring = KeyRing.load(ring_path)
    assert repr(ring) == f"KeyRing(primary_id='{ring.primary_id}', keys=1)"
    assert "***" in repr(ring._content)  # noqa: SLF001 # keys are never public
    with pytest.raises(TypeError):
        pickle.dumps(ring)


@pytest.fixture
def ring_path(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    KeyRing.load_or_create(path)
    return path


@pytest.fixture(scope="session")
def shared_ring(tmp_path_factory: pytest.TempPathFactory) -> KeyRing:
    return KeyRing.load_or_create(tmp_path_factory.mktemp("ring") / "keys.json")
