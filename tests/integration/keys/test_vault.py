from dataclasses import replace
from uuid import UUID, uuid4

import pytest

from service.database import Pool
from service.keys.cipher import OpenError, SecretBinding, TextBinding
from service.keys.destruction import destroy_values
from service.keys.key_ring import KeyRing
from service.keys.user_keys import KeyDestroyedError, UserKeys
from service.keys.vault import ValueMissingError, Vault

ADA, BOB, SECRET, SESSION = (UUID(int=number) for number in range(1, 5))
API_KEY = SecretBinding(owner_id=ADA, secret_id=SECRET, name="api_key", version=1)
QUESTION = TextBinding(owner_id=ADA, session_id=SESSION, turn=1, field="question")
AWKWARD = "Grüße \U0001f511 \0 \ud800"


@pytest.fixture
def vault(pool: Pool, ring: KeyRing) -> Vault:
    return Vault(pool, UserKeys(pool, ring))


@pytest.fixture
def other_process(pool: Pool, ring: KeyRing) -> Vault:
    return Vault(pool, UserKeys(pool, ring))


async def store(pool: Pool, owner_id: UUID, sealed: bytes, age: str = "0") -> UUID:
    sealed_id = uuid4()
    async with pool.connection() as connection:
        await connection.execute(
            "INSERT INTO events.sealed_value VALUES (%s, %s, %s, now() - %s::interval)",
            (sealed_id, owner_id, sealed, age),
        )
    return sealed_id


async def stored_ids(pool: Pool) -> set[UUID]:
    async with pool.connection() as connection:
        cursor = await connection.execute("SELECT sealed_id FROM events.sealed_value")
        return {row[0] for row in await cursor.fetchall()}


@pytest.mark.parametrize("value", ["", "swordfish", AWKWARD, "x" * 65_536])
async def test_a_stored_secret_opens(vault: Vault, pool: Pool, value: str) -> None:
    sealed_id = await store(pool, ADA, await vault.seal_secret(value, API_KEY))
    assert await vault.open_secret(sealed_id, API_KEY) == value


@pytest.mark.parametrize("text", ["", "swordfish", AWKWARD])
async def test_a_sealed_text_opens(
    vault: Vault, other_process: Vault, text: str
) -> None:
    sealed = await vault.seal_text(text, QUESTION)
    assert await other_process.open_text(sealed, QUESTION) == text
    with pytest.raises(OpenError):
        await other_process.open_text(sealed + "=", QUESTION)
    with pytest.raises(OpenError):
        await other_process.open_text(sealed, replace(QUESTION, turn=2))


async def test_a_row_given_to_another_owner_does_not_open(
    vault: Vault, pool: Pool
) -> None:
    sealed = await vault.seal_secret("swordfish", API_KEY)
    await vault.seal_secret("swordfish", replace(API_KEY, owner_id=BOB))
    bobs = await store(pool, BOB, sealed)
    with pytest.raises(OpenError):
        await vault.open_secret(bobs, replace(API_KEY, owner_id=BOB))
    with pytest.raises(ValueMissingError):
        await vault.open_secret(bobs, API_KEY)


async def test_a_destroyed_value_is_gone_and_its_neighbour_is_not(
    vault: Vault, pool: Pool
) -> None:
    sealed = await vault.seal_secret("swordfish", API_KEY)
    gone, kept = [await store(pool, ADA, sealed) for _ in range(2)]
    async with pool.connection() as connection:
        assert await destroy_values(connection, [gone, uuid4()]) == 1
    with pytest.raises(ValueMissingError):
        await vault.open_secret(gone, API_KEY)
    assert await vault.open_secret(kept, API_KEY) == "swordfish"


async def test_a_destroyed_user_takes_everything_along(
    vault: Vault, other_process: Vault, pool: Pool
) -> None:
    bobs_key = replace(API_KEY, owner_id=BOB)
    adas = await store(pool, ADA, await vault.seal_secret("swordfish", API_KEY))
    bobs = await store(pool, BOB, await vault.seal_secret("swordfish", bobs_key))
    text = await vault.seal_text("swordfish", QUESTION)
    assert await other_process.open_secret(adas, API_KEY) == "swordfish"

    assert await vault.destroy_user(ADA)
    assert not await vault.destroy_user(ADA)

    assert await stored_ids(pool) == {bobs}
    assert await vault.open_secret(bobs, bobs_key) == "swordfish"
    for process in (vault, other_process):
        with pytest.raises(KeyDestroyedError):
            await process.open_secret(adas, API_KEY)
        # Opening a secret has told the other process, too.
        with pytest.raises(KeyDestroyedError):
            await process.open_text(text, QUESTION)
        with pytest.raises(KeyDestroyedError):
            await process.seal_secret("swordfish", API_KEY)
