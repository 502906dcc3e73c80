"""Every aggregate whose events the log may hold."""

from typing import Final

from service.agents.aggregate import Agent
from service.aggregate import LoggedAggregate
from service.audit.aggregate import AuditReading, EpochChange, Refusal, TextReading
from service.connectors.aggregate import Connector
from service.gateway.approvals.aggregate import Approvals
from service.gateway.calls.aggregate import ToolCall, ToolCallBatch, ToolCallRefusal
from service.gateway.definitions.aggregate import ToolDefinitions
from service.gateway.listings.aggregate import ToolListing
from service.gateway.tokens.aggregate import AgentTokens
from service.price_catalog.aggregate import ModelPricing
from service.price_catalog.match_rules import MatchRules
from service.price_catalog.provider import Provider
from service.secrets.aggregate import Secret
from service.sessions.aggregate import ChatSession
from service.tool_rules.aggregate import ToolRules
from service.users.aggregate import Token, User, UserName

AGGREGATES: Final[tuple[type[LoggedAggregate], ...]] = (
    Agent,
    AgentTokens,
    Approvals,
    AuditReading,
    ChatSession,
    Connector,
    EpochChange,
    MatchRules,
    ModelPricing,
    Provider,
    Refusal,
    Secret,
    TextReading,
    Token,
    ToolCall,
    ToolCallBatch,
    ToolCallRefusal,
    ToolDefinitions,
    ToolListing,
    ToolRules,
    User,
    UserName,
)
