"""Every aggregate whose events the log may hold."""

from typing import Final

from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.connectors.aggregate import Connector
from service.price_catalog.aggregate import ModelPricing, Provider
from service.tool_rules.aggregate import ToolRules
from service.users.aggregate import Token, User

AGGREGATES: Final[tuple[type[LoggedAggregate], ...]] = (
    Agent,
    Connector,
    ModelPricing,
    Provider,
    Token,
    ToolRules,
    User,
)
