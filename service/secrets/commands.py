"""Create, overwrite, restore, reveal and delete secrets: commands and handlers."""

from dataclasses import dataclass
from uuid import UUID, uuid4

from pydantic import SecretStr

from service.errors import ConflictError, NotFoundError
from service.event_log.append import SealedValue
from service.event_log.unit_of_work import UnitOfWork
from service.keys.cipher import SecretBinding
from service.keys.user_keys import KeyDestroyedError
from service.keys.vault import ValueDestroyedError, Vault
from service.principal import Principal
from service.secrets.aggregate import Secret
from service.secrets.names import is_secret_name
from service.users.aggregate import User


@dataclass(frozen=True, slots=True, kw_only=True)
class CreateSecret:
    name: str
    value: SecretStr


@dataclass(frozen=True, slots=True, kw_only=True)
class OverwriteSecret:
    name: str
    value: SecretStr


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreSecretVersion:
    name: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealSecret:
    """``version`` None means the current one."""

    name: str
    version: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteSecret:
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RevealedValue:
    secret: Secret
    version: int
    value: SecretStr


async def create_secret(
    command: CreateSecret, work: UnitOfWork, vault: Vault
) -> Secret:
    """Create a secret of the caller, or create a deleted one again.

    :raises ConflictError: the caller has one of that name, or no key any more
    """
    await _refuse_without_key(work)
    owner_id = str(work.principal.user_id)
    secret = await work.find(Secret, Secret.create_id(owner_id, command.name))
    if secret is not None and not secret.is_deleted:
        raise ConflictError(
            f"there is a secret {command.name} already", code="secret_exists"
        )
    sealed_id, fingerprint = await _seal(
        work,
        vault,
        command.value.get_secret_value(),
        _binding(
            work.principal, command.name, secret.value_version + 1 if secret else 1
        ),
    )
    if secret is None:
        secret = Secret(
            owner_id=owner_id,
            name=command.name,
            sealed_id=str(sealed_id),
            fingerprint=fingerprint,
        )
    else:
        secret.create_again(sealed_id=sealed_id, fingerprint=fingerprint)
    work.save(secret)
    return secret


async def overwrite_secret(
    command: OverwriteSecret, work: UnitOfWork, vault: Vault
) -> Secret:
    """Set the value of a secret that the caller has.

    :raises NotFoundError: the caller has none of that name
    :raises PreconditionFailedError: its current version isn't the caller's If-Match
    :raises ConflictError: the caller has no key any more
    """
    secret = await _own_secret(work, command.name)
    work.match(secret, version=secret.value_version)
    await _refuse_without_key(work)
    sealed_id, fingerprint = await _seal(
        work,
        vault,
        command.value.get_secret_value(),
        _binding(work.principal, command.name, secret.value_version + 1),
    )
    secret.overwrite(sealed_id=sealed_id, fingerprint=fingerprint)
    work.save(secret)
    return secret


async def restore_secret_version(
    command: RestoreSecretVersion, work: UnitOfWork, vault: Vault
) -> Secret:
    """Set the value of an earlier version again, as a new version.

    It is opened and sealed anew: what is sealed is bound to its version.

    :raises NotFoundError: the caller has no such secret, or it no such version
    :raises PreconditionFailedError: its current version isn't the caller's If-Match
    :raises ConflictError: that version's value was destroyed, or the caller's key
    """
    secret = await _own_secret(work, command.name)
    work.match(secret, version=secret.value_version)
    await _refuse_without_key(work)
    value = await _open(vault, work.principal, secret, command.version)
    sealed_id, fingerprint = await _seal(
        work,
        vault,
        value,
        _binding(work.principal, command.name, secret.value_version + 1),
    )
    secret.restore(command.version, sealed_id=sealed_id, fingerprint=fingerprint)
    work.save(secret)
    return secret


async def reveal_secret(
    command: RevealSecret, work: UnitOfWork, vault: Vault
) -> RevealedValue:
    """Open a value for its owner; the reveal is recorded before the value is sent.

    :raises NotFoundError: the caller has no such secret, or it no such version
    :raises ConflictError: that version's value was destroyed, or the caller's key
    """
    secret = await _own_secret(work, command.name)
    await _refuse_without_key(work)
    version = secret.value_version if command.version is None else command.version
    value = await _open(vault, work.principal, secret, version)
    secret.reveal(version)
    work.save(secret)
    return RevealedValue(secret=secret, version=version, value=SecretStr(value))


async def delete_secret(command: DeleteSecret, work: UnitOfWork) -> Secret:
    """Delete a secret and destroy all of its values.

    :raises NotFoundError: the caller has none of that name
    :raises PreconditionFailedError: its current version isn't the caller's If-Match
    """
    secret = await _own_secret(work, command.name)
    work.match(secret, version=secret.value_version)
    secret.delete()
    work.save(secret)
    return secret


async def _own_secret(work: UnitOfWork, name: str) -> Secret:
    """Load a secret of the caller; another user's can't even be named."""
    secret = None
    if is_secret_name(name):
        secret_id = Secret.create_id(str(work.principal.user_id), name)
        secret = await work.find(Secret, secret_id)
    if secret is None or secret.is_deleted:
        raise NotFoundError("no such secret")
    return secret


async def _refuse_without_key(work: UnitOfWork) -> None:
    # A fact of the log, so that no value is sealed while its key is given up.
    user = await work.find(User, work.principal.user_id)
    if user is not None and user.key_is_destroyed:
        raise KeyDestroyedError


async def _open(
    vault: Vault, principal: Principal, secret: Secret, version: int
) -> str:
    if not 1 <= version <= secret.value_version:
        raise NotFoundError("no such version", code="no_such_version")
    sealed_id = secret.sealed_id_of(version)
    if sealed_id is None:
        raise ValueDestroyedError
    return await vault.open_secret(sealed_id, _binding(principal, secret.name, version))


async def _seal(
    work: UnitOfWork, vault: Vault, value: str, binding: SecretBinding
) -> tuple[UUID, str]:
    """Seal a value into the command's transaction; return its id and fingerprint."""
    sealed_id = uuid4()
    work.attach(
        SealedValue(
            sealed_id=sealed_id,
            owner_id=binding.owner_id,
            sealed=await vault.seal_secret(value, binding),
        )
    )
    return sealed_id, vault.fingerprint(binding.owner_id, value)


def _binding(principal: Principal, name: str, version: int) -> SecretBinding:
    return SecretBinding(
        owner_id=principal.user_id,
        secret_id=Secret.create_id(str(principal.user_id), name),
        name=name,
        version=version,
    )
