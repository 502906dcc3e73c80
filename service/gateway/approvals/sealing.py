"""Seal a call's arguments for the person who decides on it, and open them."""

from typing import Any
from uuid import UUID, uuid4

import orjson

from service.errors import ServiceError
from service.event_log.append import SealedValue
from service.event_log.unit_of_work import UnitOfWork
from service.gateway.approvals.entries import ApprovalEntry
from service.keys.cipher import OpenError, SecretBinding
from service.keys.user_keys import KeyDestroyedError
from service.keys.vault import Vault


async def seal_arguments(
    work: UnitOfWork, vault: Vault, arguments: bytes, approval_id: UUID, owner: UUID
) -> UUID | None:
    """Seal arguments into the command's transaction; None if the key was destroyed."""
    sealed_id = uuid4()
    binding = _binding(approval_id, sealed_id, owner)
    try:
        sealed = await vault.seal_secret(arguments.decode(), binding)
    except KeyDestroyedError:
        return None
    work.attach(SealedValue(sealed_id=sealed_id, owner_id=owner, sealed=sealed))
    return sealed_id


def _binding(approval_id: UUID, sealed_id: UUID, owner_id: UUID) -> SecretBinding:
    """Return the binding of the sealed arguments of one question."""
    return SecretBinding(
        owner_id=owner_id,
        secret_id=approval_id,
        name=f"arguments {sealed_id}",
        version=1,
    )


async def open_arguments(
    approval_id: UUID, entry: ApprovalEntry, vault: Vault
) -> dict[str, Any] | None:
    """Return the arguments; None if they, or the key of their user, were destroyed."""
    if entry["sealed_id"] is None:
        return None
    sealed_id, owner_id = UUID(entry["sealed_id"]), UUID(entry["sealed_for"])
    binding = _binding(approval_id, sealed_id, owner_id)
    try:
        opened = await vault.open_secret(sealed_id, binding)
    except (ServiceError, OpenError):
        return None
    arguments: dict[str, Any] = orjson.loads(opened)
    return arguments
