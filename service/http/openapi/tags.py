"""The tags of the API, with their descriptions."""

from typing import Final

TAGS: Final = {
    "mcp": "Tool gateway: connectors, their publication and grants, and the rules that "
    "decide which of their tools an agent may call.",
    "secrets": "Encrypted secrets of the calling user.",
    "catalog": "Agents and their managers.",
    "users": "Users, their roles and their tokens.",
    "observability": "Sessions of agents with their turns, tokens and cost.",
    "usage": "Sums of tokens and cost.",
    "llm-router": "Providers, models and their prices over time.",
    "audit": "The audit trail: who changed what and when, with proofs.",
    "operation": "Probes, metrics and the documents about this API.",
}
