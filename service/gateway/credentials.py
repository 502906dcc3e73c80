"""The credential that a call sends: which secret, and opening its value."""

from dataclasses import dataclass
from uuid import UUID

from pydantic import SecretStr

from service.connectors.aggregate import Connector
from service.connectors.gateway_commands import secret_of
from service.errors import ConflictError
from service.event_log.finder import Finder
from service.gateway.calls.aggregate import UsedSecret
from service.gateway.gate import Credential
from service.keys.cipher import SecretBinding
from service.keys.vault import Vault
from service.secrets.aggregate import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedSecret:
    """A version of a secret, and where its value is sealed."""

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


async def find_secret(
    finder: Finder,
    connector: Connector,
    *,
    agent_id: UUID | None,
    user_id: UUID | None,
) -> NamedSecret | None:
    """Return the secret that a call sends; None if there is none to be sent."""
    found = secret_of(connector, agent_id=agent_id, user_id=user_id)
    if found is None or connector.credential is None:
        return None
    owner_id, name = found
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
        header=connector.credential["header"],
        scheme=connector.credential["scheme"],
    )
