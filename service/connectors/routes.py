"""The connector commands over HTTP."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field

from service.connectors.aggregate import Connector
from service.connectors.commands import (
    EditConnector,
    MakeConnectorPrivate,
    MakeConnectorPublic,
    RegisterConnector,
    RetireConnector,
    edit_connector,
    make_connector_private,
    make_connector_public,
    register_connector,
    retire_connector,
)
from service.connectors.names_change import (
    ChangedConnectorResource,
    changed_connector_resource,
)
from service.connectors.resource import ConnectorResource, connector_resource
from service.connectors.url import ConnectorUrl
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import Name, RequestModel

routes = Routes(
    "mcp",
    "Tool gateway: connectors, their publication and grants, and the rules that decide "
    "which of their tools an agent may call.",
)

NO_SUCH_CONNECTOR = "no such connector, or none that the caller can see"
NOT_OWNER = "the caller is neither its owner nor a superuser"


Description = Annotated[str, Field(max_length=2000)]


class NewConnector(RequestModel):
    name: Name
    url: ConnectorUrl
    description: Description = ""


class EditedConnector(RequestModel):
    name: Name
    url: ConnectorUrl
    description: Description


@routes.post(
    "/api/mcp/connectors",
    answers={201: "connector registered"},
    body_example={"name": "Issue tracker", "url": "https://tracker.example/mcp"},
)
async def post_connector(
    request: web.Request, body: NewConnector
) -> Answer[ConnectorResource]:
    """Register a connector.

    The caller becomes its owner. It is private until its owner makes it public. The
    service asks its URL for its tools within seconds, once.
    """

    def present(connector: Connector) -> Answer[ConnectorResource]:
        return Answer(
            status=201,
            message="connector registered",
            data=connector_resource(connector),
            etag=connector.version,
            headers={"Location": f"/api/mcp/connectors/{connector.id}"},
        )

    return await dispatch(
        request,
        register_connector,
        RegisterConnector(name=body.name, url=body.url, description=body.description),
        present,
    )


@routes.put(
    "/api/mcp/connectors/{id}",
    answers={
        200: "connector edited, or connector already had these values",
        403: NOT_OWNER,
        404: NO_SUCH_CONNECTOR,
    },
    if_match=True,
    body_example={
        "name": "Issue tracker",
        "url": "https://tracker.example/v2/mcp",
        "description": "Read and file issues",
    },
)
async def put_connector(
    request: web.Request,
    id: UUID,  # noqa: A002
    body: EditedConnector,
) -> Answer[ChangedConnectorResource]:
    """Change a connector's name, URL and description.

    Its grants, rules and publication remain, also if the URL changes: agents that hold
    a connector trust its owner. Another URL is asked for its tools within seconds.
    Without a slug of its own, agents see its tools under other names when the name
    changes: `warnings` says so.
    """
    return await dispatch(
        request,
        edit_connector,
        EditConnector(
            connector_id=id,
            name=body.name,
            url=body.url,
            description=body.description,
        ),
        lambda edit: Answer(
            message=(
                "connector edited"
                if edit.has_changed
                else "connector already had these values"
            ),
            data=changed_connector_resource(edit),
            etag=edit.connector.version,
        ),
    )


@routes.post(
    "/api/mcp/connectors/{id}/grants/public",
    answers={
        201: "connector made public",
        200: "connector was already public",
        403: NOT_OWNER,
        404: NO_SUCH_CONNECTOR,
    },
    if_match=True,
)
async def post_public_grant(
    request: web.Request,
    id: UUID,  # noqa: A002
) -> Answer[ConnectorResource]:
    """Make a connector public.

    Shares the definition with all users, never credentials. Can be repeated safely,
    by its owner and superusers: others who see it are refused also when it is public.
    """
    return await dispatch(
        request,
        make_connector_public,
        MakeConnectorPublic(connector_id=id),
        lambda result: _connector_answer(
            result,
            changed="connector made public",
            unchanged="connector was already public",
            changed_status=201,
        ),
    )


@routes.delete(
    "/api/mcp/connectors/{id}/grants/public",
    answers={
        200: "connector made private, or connector was already private",
        403: NOT_OWNER,
        404: NO_SUCH_CONNECTOR,
    },
    if_match=True,
)
async def delete_public_grant(
    request: web.Request,
    id: UUID,  # noqa: A002
) -> Answer[ConnectorResource]:
    """Make a connector private.

    Existing grants to agents remain. Can be repeated safely.
    """
    return await dispatch(
        request,
        make_connector_private,
        MakeConnectorPrivate(connector_id=id),
        lambda result: _connector_answer(
            result,
            changed="connector made private",
            unchanged="connector was already private",
        ),
    )


@routes.delete(
    "/api/mcp/connectors/{id}",
    answers={200: "connector retired", 403: NOT_OWNER, 404: NO_SUCH_CONNECTOR},
    if_match=True,
)
async def delete_connector(request: web.Request, id: UUID) -> Answer[ConnectorResource]:  # noqa: A002
    """Retire a connector.

    This can't be undone: all grants end and the connector can't be found any more. Its
    history is kept.
    """
    return await dispatch(
        request,
        retire_connector,
        RetireConnector(connector_id=id),
        lambda connector: Answer(
            message="connector retired",
            data=connector_resource(connector),
            etag=connector.version,
        ),
    )


def _connector_answer(
    result: tuple[Connector, bool],
    *,
    changed: str,
    unchanged: str,
    changed_status: int = 200,
) -> Answer[ConnectorResource]:
    connector, has_changed = result
    return Answer(
        status=changed_status if has_changed else 200,
        message=changed if has_changed else unchanged,
        data=connector_resource(connector),
        etag=connector.version,
    )
