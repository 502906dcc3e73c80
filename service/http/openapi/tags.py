"""What each area of the API is for."""

from typing import Final

TAGS: Final = {
    "mcp": "Tool gateway: connectors, who they are shared with and granted to, and "
    "the rules that say which of their tools an agent may call.",
    "secrets": "Encrypted secrets of the calling user.",
    "catalog": "Agents and those who manage them.",
    "users": "Users, their roles and their tokens.",
    "observability": "Sessions of agents: what they did, what it took and what it "
    "cost.",
    "usage": "Token usage and cost, added up.",
    "llm-router": "Providers, models and their prices over time.",
    "audit": "The history of everything: who changed what, and proof of it.",
    "operation": "Probes, metrics and the documents about this API.",
}
