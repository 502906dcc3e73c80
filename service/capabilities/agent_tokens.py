"""Tokens with which agents call the gateways."""

from service.agent_tokens.aggregate import AgentTokens
from service.agent_tokens.routes import routes as agent_token_commands
from service.capabilities.declaration import Capability

AGENT_TOKENS = Capability(
    name="agent_tokens",
    aggregates=(AgentTokens,),
    routes=(agent_token_commands,),
)
