"""Connectors and agents for the tests of this folder."""

from service.agents.aggregate import Agent
from service.connectors.aggregate import Connector
from service.principal import Principal, Role
from tests.support.scenario import Scenario, principal

OWNER = principal("owner")
MANAGER = principal("manager")
BOTH = principal("both")
STRANGER = principal("stranger")
ROOT = principal("root", Role.SUPERUSER)
AUDITOR = principal("auditor", Role.AUDITOR)
TRACKER = {"name": "Issue tracker", "url": "https://tracker.example/mcp"}
# What lists say of a connector whose tools weren't looked for yet.
NOT_OBSERVED = {"health": "unobserved", "health_message": None, "health_at": None}


def connector_of(owner: Principal, *, public: bool = False) -> Connector:
    connector = Connector(
        owner_id=str(owner.user_id),
        name="Issue tracker",
        url="https://tracker.example/mcp",
        description="",
    )
    if public:
        connector.make_public(by=owner.user_id, at=Scenario.at)
    return connector


def agent_of(*managers: Principal) -> Agent:
    agent = Agent(name="Triage", description="", manager_id=str(managers[0].user_id))
    for manager in managers[1:]:
        agent.appoint_manager(manager.user_id)
    return agent
