"""The library ``eventsourcing`` behind FastAPI, as its own example serves it.

Runs in an environment of its own, so it imports nothing of ours:
``python library_service.py``. An application of the library is called by synchronous
endpoints, which FastAPI runs in threads. Settings come from the environment.
"""

import socket
from typing import Annotated, Any, Literal
from uuid import UUID, uuid5

import uvicorn
from eventsourcing.application import AggregateNotFoundError, Application
from eventsourcing.domain import Aggregate, event
from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel, ConfigDict, Field

NAMESPACE = UUID("2f0f3d4e-8c1b-4f57-9d5e-3f6a1c9b7e20")


class Rule(BaseModel):
    model_config = ConfigDict(extra="forbid")

    connector_id: UUID
    tool_pattern: Annotated[str, Field(min_length=1, max_length=200)]
    stance: Literal["allow", "ask", "deny"]


class Rules(BaseModel):
    model_config = ConfigDict(extra="forbid")

    rules: Annotated[list[Rule], Field(max_length=1000)]


class RuleSet(Aggregate):
    def __init__(self, agent_id: str) -> None:
        self.agent_id = agent_id
        self.rules: list[dict[str, Any]] = []

    @staticmethod
    def create_id(agent_id: str) -> UUID:
        return uuid5(NAMESPACE, agent_id)

    @event("Replaced")
    def replace(self, rules: list[dict[str, Any]], user: str) -> None:
        del user
        self.rules = rules


class ToolRules(Application[UUID]):
    def replace(self, agent_id: str, rules: list[dict[str, Any]], user: str) -> RuleSet:
        identifier = RuleSet.create_id(agent_id)
        try:
            found: RuleSet = self.repository.get(identifier)
        except AggregateNotFoundError:
            found = RuleSet(agent_id)
        found.replace(rules, user)
        self.save(found)
        return found


app = FastAPI()
application = ToolRules()


@app.put("/api/mcp/agents/{agent_id}/tools")  # type: ignore[untyped-decorator]
def replace_rules(
    agent_id: UUID, body: Rules, authorization: Annotated[str, Header()]
) -> Any:
    if not authorization.startswith("Bearer "):
        raise HTTPException(401)
    rules = body.model_dump(mode="json")["rules"]
    found = application.replace(str(agent_id), rules, "ada")
    return {"agent_id": found.agent_id, "version": found.version, "rules": found.rules}


if __name__ == "__main__":
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        print(f"ready at http://127.0.0.1:{listener.getsockname()[1]}", flush=True)
        config = uvicorn.Config(app, log_config=None, access_log=False)
        uvicorn.Server(config).run([listener])
