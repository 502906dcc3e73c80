import copy
import dataclasses
import pickle
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.keys import cipher
from service.keys.cipher import (
    Binding,
    Key,
    OpenError,
    SecretBinding,
    TextBinding,
    UserKey,
    gcm_open,
    gcm_seal,
    length_prefixed,
    open_sealed,
    seal,
    sealed_from_text,
    sealed_to_text,
)
from tests.unit.keys import aev1_reference as reference
from tests.unit.keys.ambiguous_gcm import two_key_ciphertext

ADA, BOB, SECRET, SESSION = (UUID(int=number) for number in range(1, 5))
USER_KEY = UserKey(UUID(int=77), Key(bytes(range(32))))
OTHER_KEY = UserKey(UUID(int=77), Key(bytes(range(1, 33))))
API_KEY = SecretBinding(owner_id=ADA, secret_id=SECRET, name="api_key", version=3)
QUESTION = TextBinding(owner_id=ADA, session_id=SESSION, turn=3, field="question")

bindings = st.one_of(
    st.builds(
        SecretBinding,
        owner_id=st.uuids(),
        secret_id=st.uuids(),
        name=st.text(max_size=128),
        version=st.integers(0, 2**64 - 1),
    ),
    st.builds(
        TextBinding,
        owner_id=st.uuids(),
        session_id=st.uuids(),
        turn=st.integers(0, 2**64 - 1),
        field=st.text(max_size=20),
    ),
)
user_keys = st.builds(
    UserKey, st.uuids(), st.builds(Key, st.binary(min_size=32, max_size=32))
)


def reference_context(binding: Binding) -> bytes:
    parts: tuple[Any, ...] = dataclasses.astuple(binding)
    if isinstance(binding, SecretBinding):
        return reference.secret_context(*parts)
    return reference.text_context(*parts)


def is_refused(sealed: bytes, binding: Binding, user_key: UserKey = USER_KEY) -> bool:
    try:
        open_sealed(sealed, user_key=user_key, binding=binding)
    except OpenError as error:
        return str(error) == "the sealed value can't be opened"
    return False


@given(st.binary(max_size=300), bindings, user_keys)
def test_what_was_sealed_opens_here_and_in_an_independent_reader(
    value: bytes, binding: Binding, user_key: UserKey
) -> None:
    sealed = seal(value, user_key=user_key, binding=binding)
    assert open_sealed(sealed, user_key=user_key, binding=binding) == value
    context, key = reference_context(binding), user_key.key.expose()
    assert reference.read(sealed, user_key=key, context=context) == value


@given(
    st.binary(max_size=300), bindings, user_keys, st.binary(min_size=72, max_size=72)
)
def test_an_independent_writer_makes_the_same_bytes(
    value: bytes, binding: Binding, user_key: UserKey, random: bytes
) -> None:
    parts = random[:32], random[32:48], random[48:60], random[60:]
    sealed = reference.write(
        value,
        user_key=user_key.key.expose(),
        key_id=user_key.key_id,
        purpose=binding.purpose,
        context=reference_context(binding),
        random=parts,
    )
    assert open_sealed(sealed, user_key=user_key, binding=binding) == value
    assert sealed == seal(
        value, user_key=user_key, binding=binding, random=reference.replay(*parts)
    )


@pytest.mark.parametrize("binding", [API_KEY, QUESTION])
def test_every_flipped_bit_is_refused(binding: Binding) -> None:
    sealed = seal(b"swordfish", user_key=USER_KEY, binding=binding)
    for position in range(len(sealed) * 8):
        flipped = bytearray(sealed)
        flipped[position // 8] ^= 1 << position % 8
        assert is_refused(bytes(flipped), binding), position


def test_every_truncation_and_an_extension_are_refused() -> None:
    sealed = seal(b"swordfish", user_key=USER_KEY, binding=API_KEY)
    assert all(is_refused(sealed[:size], API_KEY) for size in range(len(sealed)))
    assert is_refused(sealed + b"\0", API_KEY)


@pytest.mark.parametrize("name", reference.FIELDS)
def test_a_header_field_of_another_value_is_refused(name: str) -> None:
    place = reference.FIELDS[name]
    other_key = UserKey(UUID(int=78), USER_KEY.key)
    text = seal(b"swordfish", user_key=other_key, binding=QUESTION)
    same_place = seal(b"swordfish", user_key=USER_KEY, binding=API_KEY)
    sealed = seal(b"swordfish", user_key=USER_KEY, binding=API_KEY)
    for other in (text, same_place):
        mixed = (
            sealed[: place.start] + other[place] + sealed[place.stop or len(sealed) :]
        )
        assert mixed == sealed or is_refused(mixed, API_KEY)


@pytest.mark.parametrize(
    ("binding", "field", "value"),
    [
        (API_KEY, "owner_id", BOB),
        (API_KEY, "secret_id", SESSION),
        (API_KEY, "name", "api_kez"),
        (API_KEY, "version", 4),
        (QUESTION, "owner_id", BOB),
        (QUESTION, "session_id", SECRET),
        (QUESTION, "turn", 4),
        (QUESTION, "field", "answer"),
    ],
)
def test_a_value_opens_only_in_its_place(
    binding: Binding, field: str, value: object
) -> None:
    sealed = seal(b"swordfish", user_key=USER_KEY, binding=binding)
    change: Any = {field: value}
    moved = dataclasses.replace(binding, **change)
    assert not is_refused(sealed, binding)
    assert is_refused(sealed, moved)


def test_a_secret_is_not_a_text_and_the_other_way_round() -> None:
    secret = seal(b"swordfish", user_key=USER_KEY, binding=API_KEY)
    text = seal(b"swordfish", user_key=USER_KEY, binding=QUESTION)
    assert is_refused(secret, QUESTION)
    assert is_refused(text, API_KEY)


def test_another_users_key_is_refused() -> None:
    sealed = seal(b"swordfish", user_key=USER_KEY, binding=API_KEY)
    assert is_refused(sealed, API_KEY, OTHER_KEY)
    assert is_refused(sealed, API_KEY, UserKey(UUID(int=78), USER_KEY.key))


@pytest.mark.parametrize("committed", [0, 1])
def test_a_value_made_for_two_keys_opens_under_the_committed_one_only(
    committed: int,
) -> None:
    keys, context = (USER_KEY, OTHER_KEY), reference_context(API_KEY)
    raw = [user_key.key.expose() for user_key in keys]
    start = b"AEV1" + bytes([1, 1]) + USER_KEY.key_id.bytes + bytes(16)
    wrap_nonce, nonce = bytes(12), bytes([1] * 12)
    wrapped = two_key_ciphertext(raw, wrap_nonce, start + context, blocks=2)
    data_keys = [gcm_open(key, wrap_nonce, wrapped, start + context) for key in raw]
    header = start + wrap_nonce + wrapped
    derived = [reference.message_keys(key, header, context) for key in data_keys]
    header += derived[committed][1] + nonce
    # Under the key that is not committed to, the plaintext is well-formed too: it
    # begins with a length that fills the bucket. Only the commitment is wrong.
    body = two_key_ciphertext(
        [derived[committed][0], derived[1 - committed][0]],
        nonce,
        header + context,
        blocks=4,
        second_starts_with=(60).to_bytes(4),
    )
    uncommitted = gcm_open(derived[1 - committed][0], nonce, body, header + context)
    assert uncommitted.startswith((60).to_bytes(4))
    assert gcm_open(derived[committed][0], nonce, body, header + context)
    assert is_refused(header + body, API_KEY, keys[1 - committed])


def test_a_wrong_commitment_is_refused_before_the_ciphertext_is_decrypted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sealed = bytearray(seal(b"swordfish", user_key=USER_KEY, binding=API_KEY))
    sealed[reference.FIELDS["commitment"]] = bytes(32)
    opened = []

    def watched(key: bytes, nonce: bytes, ciphertext: bytes, aad: bytes) -> bytes:
        opened.append(len(ciphertext))
        return gcm_open(key, nonce, ciphertext, aad)

    monkeypatch.setattr(cipher, "gcm_open", watched)
    assert is_refused(bytes(sealed), API_KEY)
    assert opened == [48]


def test_sizes_are_told_only_in_buckets_of_64_bytes() -> None:
    sizes = {
        length: len(seal(bytes(length), user_key=USER_KEY, binding=API_KEY))
        for length in (0, 1, 60, 61, 124, 125)
    }
    assert sizes == {0: 222, 1: 222, 60: 222, 61: 286, 124: 286, 125: 350}


@pytest.mark.parametrize(
    ("padded", "refused"),
    [
        ((60).to_bytes(4) + bytes(60), False),
        ((61).to_bytes(4) + bytes(60), True),
        ((2**32 - 1).to_bytes(4) + bytes(60), True),
        ((9).to_bytes(4) + b"swordfish" + bytes(50) + b"x", True),
        ((9).to_bytes(4) + b"swordfish" + bytes(51 + 64), True),
        ((9).to_bytes(4) + b"swordfish" + bytes(20), True),
        (bytes(3), True),
        (b"", True),
    ],
)
def test_a_padding_of_another_form_is_refused(padded: bytes, *, refused: bool) -> None:
    sealed = reference.write(
        b"",
        user_key=USER_KEY.key.expose(),
        key_id=USER_KEY.key_id,
        purpose=1,
        context=reference_context(API_KEY),
        random=[bytes(size) for size in (32, 16, 12, 12)],
        padded=padded,
    )
    assert is_refused(sealed, API_KEY) == refused


@given(st.lists(st.binary(max_size=5)), st.lists(st.binary(max_size=5)))
def test_no_two_sequences_of_fields_are_joined_to_the_same(
    one: list[bytes], other: list[bytes]
) -> None:
    assert (length_prefixed(*one) == length_prefixed(*other)) == (one == other)


@given(st.binary(max_size=40))
def test_sealed_bytes_have_one_text(sealed: bytes) -> None:
    text = sealed_to_text(sealed)
    assert sealed_from_text(text) == sealed
    assert not set(text) & set("+/=")


@pytest.mark.parametrize(
    "text", ["A", "AB", "AA==", "A+A/", "A A A", "AAA\n", "ää", "é"]
)
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(OpenError):
        sealed_from_text(text)


def test_a_key_shows_nowhere() -> None:
    assert repr(USER_KEY) == f"UserKey(key_id={USER_KEY.key_id!r}, key=Key(***))"
    for leak in (pickle.dumps, copy.deepcopy, dataclasses.asdict):
        with pytest.raises(TypeError, match="can't be pickled or copied"):
            leak(USER_KEY)
    with pytest.raises(ValueError, match=r"^a key has 32 bytes$"):
        Key(b"swordfish")


@pytest.mark.parametrize(("key_size", "nonce_size"), [(16, 12), (32, 16), (32, 8)])
def test_other_sizes_of_key_and_nonce_are_refused(
    key_size: int, nonce_size: int
) -> None:
    with pytest.raises(ValueError, match="takes a key of 32"):
        gcm_seal(bytes(key_size), bytes(nonce_size), b"", b"")
    with pytest.raises(OpenError):
        gcm_open(bytes(key_size), bytes(nonce_size), bytes(16), b"")
