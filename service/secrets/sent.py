"""Secrets that are sent to servers of others: found, named on record, and opened."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from uuid import UUID

from pydantic import SecretStr
from typing_extensions import TypedDict

from service.errors import ConflictError
from service.event_log.finder import Finder
from service.keys.cipher import SecretBinding
from service.keys.vault import Vault
from service.secrets.aggregate import Secret


class UsedSecret(TypedDict):
    """The secret whose value is sent with a call; the value stands nowhere."""

    owner_id: str
    name: str
    version: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A header for the upstream; its value is opened each time that it is needed.

    ``reveal`` returns the whole value of the header, scheme included.

    :raises ServiceError: ``reveal``: the secret or its key was destroyed
    """

    header: str
    reveal: Callable[[], Awaitable[SecretStr]] = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSecret:
    """A version of a secret, where its value is sealed, and how it is sent."""

    binding: SecretBinding
    sealed_id: UUID
    header: str
    scheme: str | None

    @property
    def used(self) -> UsedSecret:
        return {
            "owner_id": str(self.binding.owner_id),
            "name": self.binding.name,
            "version": self.binding.version,
        }

    def credential(self, vault: Vault) -> Credential:
        async def reveal() -> SecretStr:
            """Open the value.

            :raises ConflictError: the value or its key was destroyed, or the value
                can't stand in a header
            """
            value = await vault.open_secret(self.sealed_id, self.binding)
            if not (value.isascii() and value.isprintable()):
                raise ConflictError(
                    "the secret can't be sent in a header", code="credential_unusable"
                )
            return SecretStr(f"{self.scheme} {value}" if self.scheme else value)

        return Credential(header=self.header, reveal=reveal)


async def find_named(
    finder: Finder, owner_id: UUID, name: str, *, header: str, scheme: str | None
) -> NamedSecret | None:
    """Return a secret's present version; None if there is none that could be opened."""
    secret_id = Secret.create_id(str(owner_id), name)
    secret = await finder.find(Secret, secret_id)
    if secret is None or secret.is_deleted:
        return None
    sealed_id = secret.sealed_id_of(secret.value_version)
    if sealed_id is None:
        return None
    return NamedSecret(
        binding=SecretBinding(
            owner_id=owner_id,
            secret_id=secret_id,
            name=name,
            version=secret.value_version,
        ),
        sealed_id=sealed_id,
        header=header,
        scheme=scheme,
    )
