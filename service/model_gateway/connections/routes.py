"""The commands of connections over HTTP."""

from uuid import UUID

from aiohttp import web

from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.model_gateway.connections.aggregate import ModelConnection
from service.model_gateway.connections.body import ConnectionBody, NewConnection
from service.model_gateway.connections.commands import (
    EditConnection,
    RegisterConnection,
    RetireConnection,
    edit_connection,
    register_connection,
    retire_connection,
)
from service.model_gateway.connections.resource import (
    ConnectionResource,
    connection_resource,
)

routes = Routes("llm-router")

NO_SUCH_CONNECTION = "no such connection, or none that the caller can see"
UNKNOWN_NAME = "the caller has no secret of that name (`unknown_secret`)"
EXAMPLE = {
    "name": "Anthropic, research",
    "base_url": "https://api.anthropic.com/v1",
    "dialects": ["anthropic_messages"],
    "provider": "anthropic",
    "credential": {
        "secret_name": "anthropic",
        "header": "x-api-key",
        "scheme": None,
    },
    "record_mode": "strict",
}


@routes.post(
    "/api/llm-router/connections",
    answers={201: "connection registered", 422: UNKNOWN_NAME},
    body_example=EXAMPLE,
)
async def post_model_connection(
    request: web.Request, body: NewConnection
) -> Answer[ConnectionResource]:
    """Register a connection to a server that answers model calls.

    The caller becomes its owner, and its calls send the caller's secret. Nobody calls
    it before a preset of the same owner names it.
    """

    def present(connection: ModelConnection) -> Answer[ConnectionResource]:
        return Answer(
            status=201,
            message="connection registered",
            data=connection_resource(connection),
            etag=connection.version,
            headers={"Location": f"/api/llm-router/connections/{connection.id}"},
        )

    command = RegisterConnection(settings=body.settings)
    return await dispatch(request, register_connection, command, present)


@routes.put(
    "/api/llm-router/connections/{connection_id}",
    answers={
        200: "connection edited, or connection already had these settings",
        403: "the caller isn't its owner",
        404: NO_SUCH_CONNECTION,
        422: UNKNOWN_NAME,
    },
    if_match=True,
    body_example=EXAMPLE,
)
async def put_model_connection(
    request: web.Request,
    connection_id: UUID,
    body: ConnectionBody,
) -> Answer[ConnectionResource]:
    """Change all settings of a connection.

    For its owner alone, whose secret it sends. Presets that name it go on with it: one
    whose connections no longer have a dialect in common can't be called.
    """

    def present(result: tuple[ModelConnection, bool]) -> Answer[ConnectionResource]:
        connection, has_changed = result
        return Answer(
            message=(
                "connection edited"
                if has_changed
                else "connection already had these settings"
            ),
            data=connection_resource(connection),
            etag=connection.version,
        )

    command = EditConnection(connection_id=connection_id, settings=body.settings)
    return await dispatch(request, edit_connection, command, present)


@routes.delete(
    "/api/llm-router/connections/{connection_id}",
    answers={
        200: "connection retired",
        403: "the caller is neither its owner nor a superuser",
        404: NO_SUCH_CONNECTION,
    },
    if_match=True,
)
async def delete_model_connection(
    request: web.Request,
    connection_id: UUID,
) -> Answer[ConnectionResource]:
    """Retire a connection.

    This can't be undone: no call uses it any more, and it can't be found. Its history
    is kept.
    """
    return await dispatch(
        request,
        retire_connection,
        RetireConnection(connection_id=connection_id),
        lambda connection: Answer(
            message="connection retired",
            data=connection_resource(connection),
            etag=connection.version,
        ),
    )
