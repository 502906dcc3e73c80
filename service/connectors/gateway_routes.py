"""The gateway's settings of a connector, over HTTP."""

from typing import Annotated, Any, Literal, Self
from uuid import UUID

from aiohttp import web
from pydantic import ConfigDict, Field, model_validator

from service.connectors.aggregate import Connector
from service.connectors.credential import OF_OWNER
from service.connectors.gateway_commands import (
    AttachCredential,
    ChangeGatewaySettings,
    DetachCredential,
    attach_credential,
    change_gateway_settings,
    detach_credential,
)
from service.connectors.names_change import (
    ChangedConnectorResource,
    changed_connector_resource,
)
from service.connectors.protocol_revision import ProtocolRevision
from service.connectors.resource import ConnectorResource, connector_resource
from service.connectors.slug import SLUG_PATTERN
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import RequestModel
from service.http.validation_errors import explained, fault_at
from service.secrets.headers import SecretHeader, SecretScheme
from service.secrets.names import SecretName

routes = Routes("mcp")

NO_SUCH_CONNECTOR = "no such connector, or none that the caller can see"
NOT_OWNER = "the caller is neither its owner nor a superuser"


class GatewaySettingsBody(RequestModel):
    slug: Annotated[
        str,
        Field(
            pattern=explained(
                SLUG_PATTERN,
                "must have 1 to 24 characters of a-z 0-9 -, and neither begin nor end "
                "with -",
            ),
            description="Prefix of its tools' names in an agent's list.",
        ),
    ]
    record_mode: Annotated[
        Literal["strict", "batched"],
        Field(
            description=(
                "`strict`: each call is admitted by an event before it is forwarded. "
                "`batched`: for high rates; a right that was just revoked may be used "
                "for up to a second, and a crash may lose the record of 100 ms; calls "
                "that send a credential are recorded as with `strict`."
            )
        ),
    ]
    protocol_revision: Annotated[
        ProtocolRevision | None,
        Field(
            description=(
                "The revision of MCP to speak with its server; null, or left out: "
                "the gateway finds out. Set it for a server that answers wrongly when "
                "it is asked."
            )
        ),
    ] = None


def _named_by_owners(schema: dict[str, Any]) -> None:
    """Say in the schema what the validator checks: null is no name."""
    schema["oneOf"] = [
        {
            "required": ["secret_name"],
            "properties": {
                "whose": {"const": "owner"},
                "secret_name": {"type": "string"},
            },
        },
        {
            "properties": {
                "whose": {"const": "caller"},
                "secret_name": {"type": "null"},
            }
        },
    ]


class CredentialBody(RequestModel):
    model_config = ConfigDict(json_schema_extra=_named_by_owners)

    whose: Annotated[
        Literal["owner", "caller"],
        Field(
            description=(
                "`owner`: the secret `secret_name` of the connector's owner. "
                "`caller`: the secret `mcp.{id of the connector}` of the user whom the "
                "agent's token names."
            )
        ),
    ]
    secret_name: SecretName | None = None
    header: SecretHeader = "Authorization"
    scheme: SecretScheme = "Bearer"

    @model_validator(mode="after")
    def _names_a_secret_of_the_owner(self) -> Self:
        if (self.whose == OF_OWNER) != (self.secret_name is not None):
            raise fault_at(
                "secret_name", "is required with whose=owner, and not allowed otherwise"
            )
        return self


@routes.put(
    "/api/mcp/connectors/{id}/gateway",
    answers={
        200: "gateway settings changed, or connector already had them",
        403: NOT_OWNER,
        404: NO_SUCH_CONNECTOR,
    },
    if_match=True,
    body_example={"slug": "tracker", "record_mode": "strict"},
)
async def put_connector_gateway(
    request: web.Request,
    id: UUID,  # noqa: A002
    body: GatewaySettingsBody,
) -> Answer[ChangedConnectorResource]:
    """Change how the gateway names a connector's tools and makes its calls.

    For its owner and superusers. Agents see the tools under other names from then on
    when the slug changes, as `warnings` says; rules name the upstream's own names and
    remain.
    """
    return await dispatch(
        request,
        change_gateway_settings,
        ChangeGatewaySettings(
            connector_id=id,
            slug=body.slug,
            record_mode=body.record_mode,
            protocol_revision=body.protocol_revision,
        ),
        lambda edit: Answer(
            message=(
                "gateway settings changed"
                if edit.has_changed
                else "connector already had them"
            ),
            data=changed_connector_resource(edit),
            etag=edit.connector.version,
        ),
    )


@routes.put(
    "/api/mcp/connectors/{id}/credential",
    answers={
        200: "credential attached, or connector already had it",
        403: "the caller isn't its owner",
        404: f"{NO_SUCH_CONNECTOR}, or the caller has no such secret",
        409: "the owner's secret, and the connector is public "
        "(`connector_is_public`); or the callers', and the connector was at another "
        "host when they were first asked for it (`connector_moved`)",
    },
    if_match=True,
    body_example={"whose": "owner", "secret_name": "TRACKER_TOKEN"},
)
async def put_connector_credential(
    request: web.Request,
    id: UUID,  # noqa: A002
    body: CredentialBody,
) -> Answer[ConnectorResource]:
    """Let the gateway send a secret to a connector, in a header.

    For its owner. The value is read at each call, so another value of the secret counts
    from the next call on. Callers' secrets are sent for every agent that holds the
    connector, to the host for which the connector first asked for them. The owner's is
    never sent while the connector is public, nor for agents that hold it only because
    it was public or a former owner granted it, until its owner grants it to them. The
    setting ends when the connector moves to another host, and the owner's also with
    another owner.
    """
    return await dispatch(
        request,
        attach_credential,
        AttachCredential(
            connector_id=id,
            setting={
                "whose": body.whose,
                "secret_name": body.secret_name,
                "header": body.header,
                "scheme": body.scheme,
            },
        ),
        lambda result: _answer(
            result,
            changed="credential attached",
            unchanged="connector already had it",
        ),
    )


@routes.delete(
    "/api/mcp/connectors/{id}/credential",
    answers={
        200: "credential detached, or connector had none",
        403: NOT_OWNER,
        404: NO_SUCH_CONNECTOR,
    },
    if_match=True,
)
async def delete_connector_credential(
    request: web.Request,
    id: UUID,  # noqa: A002
) -> Answer[ConnectorResource]:
    """Let the gateway send no secret to a connector any more.

    For its owner and superusers. The secret itself remains.
    """
    return await dispatch(
        request,
        detach_credential,
        DetachCredential(connector_id=id),
        lambda result: _answer(
            result, changed="credential detached", unchanged="connector had none"
        ),
    )


def _answer(
    result: tuple[Connector, bool], *, changed: str, unchanged: str
) -> Answer[ConnectorResource]:
    connector, has_changed = result
    return Answer(
        message=changed if has_changed else unchanged,
        data=connector_resource(connector),
        etag=connector.version,
    )
