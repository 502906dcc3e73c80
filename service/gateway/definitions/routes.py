"""Tool definitions over HTTP: reading and accepting them."""

from typing import Annotated, Final
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from service.gateway.definitions.acceptable import ACCEPTED_AT_ONCE_MAX
from service.gateway.definitions.commands import (
    AcceptDefinitions,
    ReadDefinitions,
    accept_definitions,
    read_definitions,
)
from service.gateway.definitions.resource import (
    DefinitionsResource,
    definitions_resource,
)
from service.gateway.schemas.hidden import HiddenCharacters
from service.http.dispatch import dispatch, execute_for
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import RequestModel
from service.http.validation_errors import explained
from service.pacing import in_thread
from service.tool_definitions.aggregate import ToolDefinitions

routes = Routes("mcp")

HIDDEN_CHARACTERS: Final[web.AppKey[HiddenCharacters]] = web.AppKey("hidden_characters")
Digest = Annotated[
    str,
    Field(
        pattern=explained(
            r"^[0-9a-f]{64}$", "must be 64 hexadecimal digits in lower case"
        )
    ),
]


class DefinitionsToAccept(RequestModel):
    definitions: Annotated[
        dict[str, Digest],
        Field(
            min_length=1,
            max_length=ACCEPTED_AT_ONCE_MAX,
            description="Names of tools, each with the digest of its definition.",
        ),
    ]


class AcceptedDefinitions(TypedDict):
    """The tools named, with the digests that are accepted."""

    connector_id: UUID
    version: int
    accepted: dict[str, str]


@routes.get(
    "/api/mcp/connectors/{id}/definitions",
    answers={
        200: "tool definitions",
        404: "no such connector, or none that the caller can see",
    },
)
async def get_definitions(
    request: web.Request,
    id: UUID,  # noqa: A002
) -> Answer[DefinitionsResource]:
    """List the tools of a connector as its upstream defines them, by name.

    With what was accepted, and how the two differ. A changed definition is hidden from
    agents and refused until it is accepted; a new one is `ask` under a rule with a
    wildcard.
    """
    found, _ = await execute_for(
        request, read_definitions, ReadDefinitions(connector_id=id)
    )
    # Up to a megabyte of JSON: too long for the event loop.
    hidden = request.app[HIDDEN_CHARACTERS]
    data = await in_thread(definitions_resource, id, found, hidden)
    return Answer(message="tool definitions", data=data, etag=data["version"])


@routes.post(
    "/api/mcp/connectors/{id}/definitions/accept",
    answers={
        200: "definitions accepted, or were already accepted",
        403: "the caller is neither its owner nor a superuser",
        404: "no such connector, or none that the caller can see; or no such tool",
        409: "the upstream now lists another definition (`definition_changed`), or it "
        "can't be accepted (`definition_unacceptable`)",
    },
    if_match=True,
    body_example={
        "definitions": {
            "issues.create": (
                "0f343b0931126a20f133d67c2b018a3b1aa0c1f6b1c7c1cd1a2b3c4d5e6f7a8b"
            )
        }
    },
)
async def post_definitions_accept(
    request: web.Request,
    id: UUID,  # noqa: A002
    body: DefinitionsToAccept,
) -> Answer[AcceptedDefinitions]:
    """Accept definitions of a connector's tools, by digest.

    For its owner and superusers. Agents may call the tools as they are defined now, as
    far as their rules say.
    """

    def present(result: tuple[ToolDefinitions, bool]) -> Answer[AcceptedDefinitions]:
        definitions, changed = result
        return Answer(
            message=(
                "definitions accepted" if changed else "they already were accepted"
            ),
            data={
                "connector_id": id,
                "version": definitions.version,
                "accepted": body.definitions,
            },
            etag=definitions.version,
        )

    return await dispatch(
        request,
        accept_definitions,
        AcceptDefinitions(connector_id=id, digests=body.definitions),
        present,
    )
