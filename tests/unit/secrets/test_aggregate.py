"""What a secret decides, without a log."""

from typing import Any
from uuid import UUID, uuid4

from service.secrets.aggregate import VERSIONS_KEPT, Secret

PLACES = [uuid4() for _ in range(VERSIONS_KEPT + 2)]


def pending(secret: Secret) -> list[Any]:
    return list(secret.pending_events)


def topics(secret: Secret) -> list[str]:
    return [event.TOPIC for event in pending(secret)]


def new_secret() -> Secret:
    return Secret(
        owner_id=str(UUID(int=1)),
        name="token",
        sealed_id=str(PLACES[0]),
        fingerprint="f1",
    )


def test_a_name_of_one_owner_is_one_secret() -> None:
    one = Secret.create_id("ada", "token")
    assert one == Secret.create_id("ada", "token")
    assert one != Secret.create_id("bob", "token")
    assert one != Secret.create_id("adat", "oken")


def test_overwriting_adds_a_version() -> None:
    secret = new_secret()
    secret.overwrite(sealed_id=PLACES[1], fingerprint="f2")
    assert (secret.value_version, secret.fingerprint) == (2, "f2")
    assert secret.sealed_id_of(1) == PLACES[0]
    assert secret.sealed_id_of(2) == PLACES[1]
    assert secret.sealed_id_of(3) is None
    assert topics(secret) == ["secret.created", "secret.overwritten"]


def test_versions_beyond_the_bound_are_given_up() -> None:
    secret = new_secret()
    for place in PLACES[1:]:
        secret.overwrite(sealed_id=place, fingerprint="f")
    assert secret.value_version == VERSIONS_KEPT + 2
    assert [secret.sealed_id_of(version) for version in (1, 2)] == [None, None]
    assert secret.sealed_id_of(3) == PLACES[2]
    assert len(secret.kept) == VERSIONS_KEPT
    destroyed = [
        (event.versions, event.sealed_ids)
        for event in secret.pending_events
        if isinstance(event, Secret.VersionsDestroyed)
    ]
    assert destroyed == [([1], [str(PLACES[0])]), ([2], [str(PLACES[1])])]


def test_restoring_adds_a_version_too() -> None:
    secret = new_secret()
    secret.overwrite(sealed_id=PLACES[1], fingerprint="f2")
    secret.restore(1, sealed_id=PLACES[2], fingerprint="f1")
    assert (secret.value_version, secret.fingerprint) == (3, "f1")
    assert pending(secret)[-1].restored_version == 1


def test_being_revealed_leaves_the_secret_as_it_is() -> None:
    secret = new_secret()
    before = secret.value_version, secret.fingerprint, secret.kept
    secret.reveal(1)
    assert before == (secret.value_version, secret.fingerprint, secret.kept)
    assert topics(secret) == ["secret.created", "secret.revealed"]


def test_a_deleted_secret_gives_everything_up_and_counts_on() -> None:
    secret = new_secret()
    secret.overwrite(sealed_id=PLACES[1], fingerprint="f2")
    secret.delete()
    assert secret.is_deleted
    assert secret.sealed_id_of(2) is None
    assert pending(secret)[-1].sealed_ids == [str(PLACES[0]), str(PLACES[1])]
    secret.create_again(sealed_id=PLACES[2], fingerprint="f3")
    assert not secret.is_deleted
    assert secret.value_version == 3
    assert secret.kept == {"3": str(PLACES[2])}
