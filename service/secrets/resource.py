"""A secret as the API shows it: everything but the value."""

from datetime import datetime
from uuid import UUID

from typing_extensions import TypedDict

from service.http.envelope import SecretText
from service.secrets.aggregate import Secret


class SecretResource(TypedDict):
    """A secret without its value.

    ``fingerprint`` is a keyed hash: equal for equal values of one owner.
    """

    name: str
    version: int
    fingerprint: str
    updated_at: datetime
    updated_by: UUID


class SecretValue(TypedDict):
    """The only answer that contains a secret's value."""

    name: str
    version: int
    value: SecretText


def secret_resource(secret: Secret) -> SecretResource:
    """Show a secret whose last event set its value."""
    return {
        "name": secret.name,
        "version": secret.value_version,
        "fingerprint": secret.fingerprint,
        "updated_at": secret.modified_on,
        # Nobody else can.
        "updated_by": UUID(secret.owner_id),
    }
