"""Register, edit and retire connections: commands and handlers."""

from dataclasses import dataclass
from uuid import UUID

from service.errors import (
    ForbiddenError,
    InvalidRequestError,
    NotFoundError,
    Problem,
)
from service.event_log.unit_of_work import UnitOfWork
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.connections.policy import may_edit, may_retire, may_see
from service.model_gateway.connections.settings import ConnectionSettings
from service.secrets.aggregate import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterConnection:
    settings: ConnectionSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class EditConnection:
    connection_id: UUID
    settings: ConnectionSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class RetireConnection:
    connection_id: UUID


async def register_connection(
    command: RegisterConnection, work: UnitOfWork
) -> ModelConnection:
    """Register a connection, owned by the caller.

    :raises InvalidRequestError: the caller has no secret of that name
    """
    await _refuse_unknown_secret(work, command.settings)
    connection = ModelConnection(
        owner_id=str(work.principal.user_id), settings=command.settings
    )
    work.save(connection)
    return connection


async def edit_connection(
    command: EditConnection, work: UnitOfWork
) -> tuple[ModelConnection, bool]:
    """Change a connection; return it, and whether anything differs.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller isn't its owner
    :raises InvalidRequestError: the caller has no secret of that name
    """
    connection = await visible_connection(work, command.connection_id)
    if not may_edit(work.principal, connection):
        raise ForbiddenError(
            "only its owner changes a connection: it sends the owner's secret"
        )
    work.match(connection)
    await _refuse_unknown_secret(work, command.settings)
    changed = connection.edit(command.settings)
    work.save(connection)
    return connection, changed


async def retire_connection(
    command: RetireConnection, work: UnitOfWork
) -> ModelConnection:
    """Retire a connection permanently; no call uses it afterwards.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    connection = await visible_connection(work, command.connection_id)
    if not may_retire(work.principal, connection):
        raise ForbiddenError("only its owner and superusers retire a connection")
    work.match(connection)
    connection.retire()
    work.save(connection)
    return connection


async def visible_connection(work: UnitOfWork, connection_id: UUID) -> ModelConnection:
    """Load a connection that exists for the caller.

    :raises NotFoundError: the same for none, a retired one and an invisible one
    """
    connection = await work.find(ModelConnection, connection_id)
    if (
        connection is None
        or connection.is_retired
        or not may_see(work.principal, connection)
    ):
        raise NotFoundError("no such connection")
    return connection


async def _refuse_unknown_secret(
    work: UnitOfWork, settings: ConnectionSettings
) -> None:
    credential = settings["credential"]
    if credential is None:
        return
    secret = await work.find(
        Secret,
        Secret.create_id(str(work.principal.user_id), credential["secret_name"]),
    )
    if secret is None or secret.is_deleted:
        raise InvalidRequestError(
            "you have no secret of this name; make it first (POST /api/secrets)",
            code="unknown_secret",
            problems=[Problem("credential.secret_name", "no such secret")],
        )
