"""The tokens of agents over HTTP."""

from functools import partial
from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field
from typing_extensions import TypedDict

from service.agent_tokens.aggregate import AgentToken, AgentTokens
from service.agent_tokens.commands import (
    IssueAgentToken,
    ListAgentTokens,
    RevokeAgentToken,
    issue_agent_token,
    list_agent_tokens,
    revoke_agent_token,
)
from service.agent_tokens.resource import (
    AgentTokenResource,
    IssuedAgentToken,
    agent_token_resource,
)
from service.http.app_keys import KEY_RING
from service.http.dispatch import dispatch, execute_for
from service.http.envelope import Answer
from service.http.idempotency import SeededToken
from service.http.operation import Routes
from service.http.requests import Name, RequestModel
from service.http.times import Timestamp
from service.users.aggregate import token_id as id_of_token
from service.users.tokens import AGENT_PREFIX, new_token

routes = Routes("mcp")

NO_SUCH_AGENT = "no such agent, or none that the caller can see"
NOT_MANAGER = "the caller doesn't manage this agent"


class NewAgentToken(RequestModel):
    label: Name
    user_id: Annotated[
        UUID | None,
        Field(
            description="User for whom the agent calls: the caller, or null for nobody."
        ),
    ] = None
    expires_at: Annotated[
        Timestamp | None,
        Field(description="Without it, the token is valid until it is revoked."),
    ] = None


class AgentTokenList(TypedDict):
    tokens: list[AgentTokenResource]


class RevokedAgentToken(TypedDict):
    id: UUID
    agent_id: UUID


@routes.post(
    "/api/mcp/agents/{agent_id}/tokens",
    answers={
        201: "token issued",
        403: "the caller doesn't manage this agent, or isn't the user that is named",
        404: NO_SUCH_AGENT,
        409: "the agent is retired (`agent_retired`), or has the maximum number of "
        "valid tokens (`limit_reached`)",
        422: "expires_at is in the past",
    },
    body_example={"label": "build server", "expires_at": "2030-01-01T00:00:00Z"},
)
async def post_agent_token(
    request: web.Request, agent_id: UUID, body: NewAgentToken
) -> Answer[IssuedAgentToken]:
    """Issue a token to an agent.

    Requires full management of the agent. With it the agent calls its tools at
    `/mcp/agents/{agent_id}`; it is refused everywhere else. A token that names a user
    uses that user's secrets where a connector asks for the caller's, so users issue it
    themselves. The answer contains the token, which is shown again only to a repeated
    request with the same Idempotency-Key. An agent has at most 100 valid tokens.
    """
    token = SeededToken(request, partial(new_token, prefix=AGENT_PREFIX))
    identifier = id_of_token(request.app[KEY_RING].token_hash(token.text))

    def present(issued: AgentToken) -> Answer[IssuedAgentToken]:
        return Answer(
            status=201,
            message="token issued; keep it, the service has only its hash",
            data=IssuedAgentToken(
                **agent_token_resource(issued, agent_id), token=token.text
            ),
            headers={
                "Cache-Control": "no-store",
                "Location": f"/api/mcp/agents/{agent_id}/tokens/{issued.token_id}",
            },
        )

    return await dispatch(
        request,
        issue_agent_token,
        IssueAgentToken(
            agent_id=agent_id,
            token_id=identifier,
            label=body.label,
            user_id=body.user_id,
            expires_at=body.expires_at,
        ),
        present,
        token,
    )


@routes.get(
    "/api/mcp/agents/{agent_id}/tokens",
    answers={200: "tokens of the agent", 403: NOT_MANAGER, 404: NO_SUCH_AGENT},
)
async def get_agent_tokens(
    request: web.Request, agent_id: UUID
) -> Answer[AgentTokenList]:
    """List an agent's tokens that were not revoked, latest first.

    Requires full management of the agent. The tokens themselves can't be read.
    """
    tokens, _ = await execute_for(
        request, list_agent_tokens, ListAgentTokens(agent_id=agent_id)
    )
    return Answer(
        message="tokens of the agent",
        data={"tokens": [agent_token_resource(each, agent_id) for each in tokens]},
    )


@routes.delete(
    "/api/mcp/agents/{agent_id}/tokens/{agent_token_id}",
    answers={
        200: "token revoked, or there was no such token",
        403: NOT_MANAGER,
        404: NO_SUCH_AGENT,
    },
)
async def delete_agent_token(
    request: web.Request, agent_id: UUID, agent_token_id: UUID
) -> Answer[RevokedAgentToken]:
    """Revoke a token of an agent.

    For managers of the agent, superusers, and the user that the token names. Once this
    is answered, no call is admitted with it; a call under way may end. That there is no
    such token is told to managers and superusers only: the user whom a revoked token
    named gets 404, or 403 if they can see the agent.
    """

    def present(
        result: tuple[AgentTokens | None, bool],
    ) -> Answer[RevokedAgentToken]:
        _, changed = result
        return Answer(
            message="token revoked" if changed else "there was no such token",
            data={"id": agent_token_id, "agent_id": agent_id},
        )

    return await dispatch(
        request,
        revoke_agent_token,
        RevokeAgentToken(agent_id=agent_id, token_id=agent_token_id),
        present,
    )
