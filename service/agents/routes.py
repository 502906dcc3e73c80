"""The agent commands over HTTP."""

from typing import Annotated
from uuid import UUID

from aiohttp import web
from pydantic import Field

from service.agents.aggregate import Agent
from service.agents.commands import (
    AppointManager,
    DismissManager,
    EditAgent,
    RegisterAgent,
    RetireAgent,
    appoint_manager,
    dismiss_manager,
    edit_agent,
    register_agent,
    retire_agent,
)
from service.agents.reader_commands import (
    AppointReader,
    DismissReader,
    appoint_reader,
    dismiss_reader,
)
from service.agents.resource import AgentResource, agent_resource
from service.http.dispatch import dispatch
from service.http.envelope import Answer
from service.http.operation import Routes
from service.http.requests import Name, RequestModel

routes = Routes("catalog", "Agents and their managers.")

Description = Annotated[str, Field(max_length=2000)]


class NewAgent(RequestModel):
    name: Name
    description: Description = ""


class EditedAgent(RequestModel):
    name: Name
    description: Description


@routes.post(
    "/api/catalog/agents",
    answers={201: "agent registered"},
    body_example={"name": "Triage", "description": "Sorts incoming issues"},
)
async def post_agent(request: web.Request, body: NewAgent) -> Answer[AgentResource]:
    """Register an agent.

    The caller becomes its first manager.
    """

    def present(agent: Agent) -> Answer[AgentResource]:
        return Answer(
            status=201,
            message="agent registered",
            data=agent_resource(agent),
            etag=agent.version,
            headers={"Location": f"/api/catalog/agents/{agent.id}"},
        )

    return await dispatch(
        request,
        register_agent,
        RegisterAgent(name=body.name, description=body.description),
        present,
    )


@routes.put(
    "/api/catalog/agents/{agent_id}",
    answers={
        200: "agent edited, or agent already had this name and description",
        403: "the caller doesn't manage this agent",
        404: "no such agent, or none that the caller can see",
        409: "the agent is retired (`agent_retired`)",
    },
    if_match=True,
    body_example={"name": "Triage", "description": "Sorts issues and mail"},
)
async def put_agent(
    request: web.Request, agent_id: UUID, body: EditedAgent
) -> Answer[AgentResource]:
    """Change an agent's name and description.

    Requires full management of the agent.
    """
    return await dispatch(
        request,
        edit_agent,
        EditAgent(agent_id=agent_id, name=body.name, description=body.description),
        lambda result: _agent_answer(
            result,
            changed="agent edited",
            unchanged="agent already had this name and description",
        ),
    )


@routes.delete(
    "/api/catalog/agents/{agent_id}",
    answers={
        200: "agent retired, or agent was already retired",
        403: "the caller doesn't manage this agent",
        404: "no such agent, or none that the caller can see",
    },
    if_match=True,
)
async def delete_agent(request: web.Request, agent_id: UUID) -> Answer[AgentResource]:
    """Retire an agent.

    This can't be undone: all of its tools are denied, and its rules, grants, name and
    description can't be changed any more. Its managers still see it and its history,
    and sessions are still recorded. Requires full management of the agent.
    """
    return await dispatch(
        request,
        retire_agent,
        RetireAgent(agent_id=agent_id),
        lambda result: _agent_answer(
            result, changed="agent retired", unchanged="agent was already retired"
        ),
    )


@routes.put(
    "/api/catalog/agents/{agent_id}/managers/{user_id}",
    answers={
        200: "manager appointed, or user was already a manager",
        403: "the caller doesn't manage this agent",
        404: "no such agent, or none that the caller can see; or no such user",
        409: "the agent has the maximum number of managers (`limit_reached`)",
    },
    if_match=True,
)
async def put_agent_manager(
    request: web.Request, agent_id: UUID, user_id: UUID
) -> Answer[AgentResource]:
    """Add a manager to an agent.

    Requires full management of the agent, and grants it to the user.
    """
    return await dispatch(
        request,
        appoint_manager,
        AppointManager(agent_id=agent_id, user_id=user_id),
        lambda result: _agent_answer(
            result,
            changed="manager appointed",
            unchanged="user was already a manager",
        ),
    )


@routes.delete(
    "/api/catalog/agents/{agent_id}/managers/{user_id}",
    answers={
        200: "manager dismissed, or user was not a manager",
        403: "the caller doesn't manage this agent, or it is the last manager",
        404: "no such agent, or none that the caller can see",
    },
    if_match=True,
)
async def delete_agent_manager(
    request: web.Request, agent_id: UUID, user_id: UUID
) -> Answer[AgentResource]:
    """Remove a manager from an agent.

    Requires full management of the agent. Only a superuser can remove the last manager.
    """
    return await dispatch(
        request,
        dismiss_manager,
        DismissManager(agent_id=agent_id, user_id=user_id),
        lambda result: _agent_answer(
            result, changed="manager dismissed", unchanged="user was not a manager"
        ),
    )


@routes.put(
    "/api/catalog/agents/{agent_id}/readers/{user_id}",
    answers={
        200: "reader appointed, or user was already a reader",
        403: "the caller doesn't manage this agent",
        404: "no such agent, or none that the caller can see; or no such user",
        409: "the agent has the maximum number of readers (`limit_reached`)",
    },
    if_match=True,
)
async def put_agent_reader(
    request: web.Request, agent_id: UUID, user_id: UUID
) -> Answer[AgentResource]:
    """Add a reader to an agent.

    Requires full management of the agent. A reader sees the agent, reads all of its
    tool rules and explains its decisions, and changes nothing: made for the program
    that runs the agent.
    """
    return await dispatch(
        request,
        appoint_reader,
        AppointReader(agent_id=agent_id, user_id=user_id),
        lambda result: _agent_answer(
            result, changed="reader appointed", unchanged="user was already a reader"
        ),
    )


@routes.delete(
    "/api/catalog/agents/{agent_id}/readers/{user_id}",
    answers={
        200: "reader dismissed, or user was not a reader",
        403: "the caller doesn't manage this agent",
        404: "no such agent, or none that the caller can see",
    },
    if_match=True,
)
async def delete_agent_reader(
    request: web.Request, agent_id: UUID, user_id: UUID
) -> Answer[AgentResource]:
    """Remove a reader from an agent.

    Requires full management of the agent.
    """
    return await dispatch(
        request,
        dismiss_reader,
        DismissReader(agent_id=agent_id, user_id=user_id),
        lambda result: _agent_answer(
            result, changed="reader dismissed", unchanged="user was not a reader"
        ),
    )


def _agent_answer(
    result: tuple[Agent, bool], *, changed: str, unchanged: str
) -> Answer[AgentResource]:
    agent, has_changed = result
    return Answer(
        message=changed if has_changed else unchanged,
        data=agent_resource(agent),
        etag=agent.version,
    )
