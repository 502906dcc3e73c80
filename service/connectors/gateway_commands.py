"""Change what the gateway needs of a connector: commands and handlers."""

from dataclasses import dataclass
from uuid import UUID

from service.connectors.aggregate import Connector
from service.connectors.commands import Edit, visible_connector
from service.connectors.credential import OF_CALLER, OF_OWNER, CredentialSetting
from service.connectors.policy import may_share, owns
from service.errors import (
    ConflictError,
    ForbiddenError,
    NotFoundError,
)
from service.event_log.unit_of_work import UnitOfWork
from service.secrets.aggregate import Secret


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeGatewaySettings:
    connector_id: UUID
    slug: str
    record_mode: str
    protocol_revision: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class AttachCredential:
    connector_id: UUID
    setting: CredentialSetting


@dataclass(frozen=True, slots=True, kw_only=True)
class DetachCredential:
    connector_id: UUID


async def change_gateway_settings(
    command: ChangeGatewaySettings, work: UnitOfWork
) -> Edit:
    """Change the settings.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    connector = await _connector_of_caller(work, command.connector_id)
    slug = connector.slug
    changed = connector.change_gateway_settings(
        slug=command.slug,
        record_mode=command.record_mode,
        protocol_revision=command.protocol_revision,
    )
    work.save(connector)
    return Edit(connector, changed, slug)


async def attach_credential(
    command: AttachCredential, work: UnitOfWork
) -> tuple[Connector, bool]:
    """Let the gateway send a secret; return the connector, and whether that differs.

    Its owner alone decides that; no superuser lends another's secret.

    :raises NotFoundError: there is none, or none that the caller can see, or the owner
        has no such secret
    :raises ForbiddenError: the caller isn't its owner
    :raises ConflictError: it is the owner's secret, and the connector is public; or the
        callers', who were first asked for it while the connector was at another host
    """
    connector = await _connector_of_caller(work, command.connector_id)
    if not owns(work.principal, connector):
        raise ForbiddenError("only its owner attaches a credential to a connector")
    name = command.setting["secret_name"]
    if command.setting["whose"] == OF_OWNER:
        if connector.is_public:
            raise ConflictError(
                "the owner's secret is never sent for a public connector; make it "
                "private first, or let callers use their own",
                code="connector_is_public",
            )
        secret = await work.find(
            Secret, Secret.create_id(connector.owner_id, name or "")
        )
        if secret is None or secret.is_deleted:
            raise NotFoundError("the caller has no such secret")
    changed = connector.attach_credential(command.setting)
    work.save(connector)
    return connector, changed


async def detach_credential(
    command: DetachCredential, work: UnitOfWork
) -> tuple[Connector, bool]:
    """Let the gateway send no secret; return the connector, and whether it sent one.

    :raises NotFoundError: there is none, or none that the caller can see
    :raises ForbiddenError: the caller is neither its owner nor a superuser
    """
    connector = await _connector_of_caller(work, command.connector_id)
    changed = connector.detach_credential()
    work.save(connector)
    return connector, changed


def secret_of(
    connector: Connector, *, agent_id: UUID | None, user_id: UUID | None
) -> tuple[UUID, str] | None:
    """Return owner and name of the secret that a call sends; None if there is none.

    No agent calls where the service lists the tools. The owner's secret is lent to the
    agents to which the connector's side has granted it, and to none that hold it only
    because it was public or a former owner granted it.

    A calling user's secret is the one that they named for the connector: to make it is
    to agree that the gateway sends it there, to the host for which it was first asked.
    """
    setting = connector.credential
    if setting is None:
        return None
    if setting["whose"] == OF_CALLER:
        # Older versions attached the setting again at another host, too.
        if user_id is None or not connector.may_be_sent_callers_secrets:
            return None
        return user_id, callers_secret_name(connector.id)
    if connector.is_public or setting["secret_name"] is None:
        return None
    if agent_id is not None and not connector.is_lent_to(agent_id):
        return None
    return UUID(connector.owner_id), setting["secret_name"]


def callers_secret_name(connector_id: UUID) -> str:
    return f"mcp.{connector_id}"


async def _connector_of_caller(work: UnitOfWork, connector_id: UUID) -> Connector:
    connector = await visible_connector(work, connector_id)
    if not may_share(work.principal, connector):
        raise ForbiddenError("only its owner and superusers change this connector")
    work.match(connector)
    return connector
