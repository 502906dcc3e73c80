"""Agents and their managers."""
# Made by "make generated"; do not edit.

from datetime import datetime
from uuid import UUID

from agent_runtime_client import operations
from agent_runtime_client._async.caller import AsyncCaller
from agent_runtime_client._async.pages import AsyncPages, Paging
from agent_runtime_client.models import (
    Agent,
    AgentGateway,
    AgentList,
    AgentTokenList,
    IssuedAgentToken,
    RevokedAgentToken,
)
from agent_runtime_client.not_given import NOT_GIVEN, NotGiven


class AsyncAgentsResource:
    """Agents and their managers."""

    def __init__(self, caller: AsyncCaller) -> None:
        self._caller = caller

    async def create(
        self,
        name: str,
        *,
        description: str | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> Agent:
        """Register an agent.

        The caller becomes its first manager.

        :param description: What it is for, in a few words.
        """
        return await self._caller.model(
            operations.POST_AGENT,
            Agent,
            body={"name": name, "description": description},
            idempotency_key=idempotency_key,
        )

    def list(
        self,
        *,
        limit: int | NotGiven = NOT_GIVEN,
        after: UUID | str | NotGiven = NOT_GIVEN,
    ) -> AsyncPages[Agent, AgentList]:
        """List the agents that the caller manages or is a reader of, by id.

        Retired agents are listed too. Superusers and auditors see all agents.

        :param limit: Maximum number of items on the page.
        :param after: `end_cursor` of the previous page.
        """
        return AsyncPages(
            self._caller,
            operations.GET_AGENTS,
            AgentList,
            Paging("agents", "after", cursor=("end_cursor",), more=()),
            query={"limit": limit, "after": after},
        )

    async def change(
        self,
        agent_id: UUID | str,
        name: str,
        description: str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Agent:
        """Change an agent's name and description.

        Requires full management of the agent.

        :param description: What it is for, in a few words.
        """
        return await self._caller.model(
            operations.PUT_AGENT,
            Agent,
            path={"agent_id": agent_id},
            body={"name": name, "description": description},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def retire(
        self,
        agent_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Agent:
        """Retire an agent.

        This can't be undone: all of its tools are denied, and its rules, grants, name
        and description can't be changed any more. Its managers still see it and its
        history, and sessions are still recorded. Requires full management of the agent.
        """
        return await self._caller.model(
            operations.DELETE_AGENT,
            Agent,
            path={"agent_id": agent_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def get(self, agent_id: UUID | str) -> Agent:
        """Get an agent that the caller manages or is a reader of."""
        return await self._caller.model(
            operations.GET_AGENT, Agent, path={"agent_id": agent_id}
        )

    async def appoint_manager(
        self,
        agent_id: UUID | str,
        user_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Agent:
        """Add a manager to an agent.

        Requires full management of the agent, and grants it to the user.
        """
        return await self._caller.model(
            operations.PUT_AGENT_MANAGER,
            Agent,
            path={"agent_id": agent_id, "user_id": user_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def dismiss_manager(
        self,
        agent_id: UUID | str,
        user_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Agent:
        """Remove a manager from an agent.

        Requires full management of the agent. Only a superuser can remove the last
        manager.
        """
        return await self._caller.model(
            operations.DELETE_AGENT_MANAGER,
            Agent,
            path={"agent_id": agent_id, "user_id": user_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def add_reader(
        self,
        agent_id: UUID | str,
        user_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Agent:
        """Add a reader to an agent.

        Requires full management of the agent. A reader sees the agent, reads all of its
        tool rules and explains its decisions, and changes nothing: made for the program
        that runs the agent.
        """
        return await self._caller.model(
            operations.PUT_AGENT_READER,
            Agent,
            path={"agent_id": agent_id, "user_id": user_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def remove_reader(
        self,
        agent_id: UUID | str,
        user_id: UUID | str,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> Agent:
        """Remove a reader from an agent.

        Requires full management of the agent.
        """
        return await self._caller.model(
            operations.DELETE_AGENT_READER,
            Agent,
            path={"agent_id": agent_id, "user_id": user_id},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )

    async def issue_token(
        self,
        agent_id: UUID | str,
        label: str,
        *,
        user_id: UUID | str | None | NotGiven = NOT_GIVEN,
        expires_at: datetime | None | NotGiven = NOT_GIVEN,
        idempotency_key: str | None = None,
    ) -> IssuedAgentToken:
        """Issue a token to an agent.

        Requires full management of the agent. With it the agent calls its tools at
        `/mcp/agents/{agent_id}`; it is refused everywhere else. A token that names a
        user uses that user's secrets where a connector asks for the caller's, so users
        issue it themselves. The answer contains the token, which is shown again only to
        a repeated request with the same Idempotency-Key. An agent has at most 100 valid
        tokens.

        :param label: Says what the token is for, such as `laptop`.
        :param user_id: User for whom the agent calls: the caller, or null for nobody.
        :param expires_at: Without it, the token is valid until it is revoked.
        """
        return await self._caller.model(
            operations.POST_AGENT_TOKEN,
            IssuedAgentToken,
            path={"agent_id": agent_id},
            body={"label": label, "user_id": user_id, "expires_at": expires_at},
            idempotency_key=idempotency_key,
        )

    async def list_tokens(self, agent_id: UUID | str) -> AgentTokenList:
        """List an agent's tokens that were not revoked, latest first.

        Requires full management of the agent. The tokens themselves can't be read.
        """
        return await self._caller.model(
            operations.GET_AGENT_TOKENS, AgentTokenList, path={"agent_id": agent_id}
        )

    async def revoke_token(
        self,
        agent_id: UUID | str,
        agent_token_id: UUID | str,
        *,
        idempotency_key: str | None = None,
    ) -> RevokedAgentToken:
        """Revoke a token of an agent.

        For managers of the agent, superusers, and the user that the token names. Once
        this is answered, no call is admitted with it; a call under way may end. That
        there is no such token is told to managers and superusers only: the user whom a
        revoked token named gets 404, or 403 if they can see the agent.
        """
        return await self._caller.model(
            operations.DELETE_AGENT_TOKEN,
            RevokedAgentToken,
            path={"agent_id": agent_id, "agent_token_id": agent_token_id},
            idempotency_key=idempotency_key,
        )

    async def gateway_settings(self, agent_id: UUID | str) -> AgentGateway:
        """Read how the gateway lists an agent's tools.

        For everyone who sees the agent.
        """
        return await self._caller.model(
            operations.GET_AGENT_GATEWAY, AgentGateway, path={"agent_id": agent_id}
        )

    async def change_gateway_settings(
        self,
        agent_id: UUID | str,
        tools_listed_max: int | None,
        *,
        if_match: int | str | None = None,
        idempotency_key: str | None = None,
    ) -> AgentGateway:
        """Change how the gateway lists an agent's tools.

        Requires full management of the agent. Where it has more tools than
        `tools_listed_max`, the list at `/mcp/agents/{agent_id}` is of two tools:
        `find-tools` finds by words what the agent may call, and `call-tool` calls it.
        Each call is decided and recorded as that of the tool that it calls.

        :param tools_listed_max: An agent with more tools is listed two instead, which
            search them and call what was found; null: all are always listed.
        """
        return await self._caller.model(
            operations.PUT_AGENT_GATEWAY,
            AgentGateway,
            path={"agent_id": agent_id},
            body={"tools_listed_max": tools_listed_max},
            if_match=if_match,
            idempotency_key=idempotency_key,
        )
