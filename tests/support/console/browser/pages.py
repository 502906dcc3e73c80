"""Every page of the console, with the address of one example."""

from collections.abc import Callable, Mapping
from typing import Final

from tests.support.console.browser.service import DemoData

PAGES: Final[Mapping[str, Callable[[DemoData], str]]] = {
    "overview": lambda _: "overview",
    "approvals": lambda _: "approvals?state=all",
    "approval": lambda demo: f"approvals/{demo.agent_id}/{demo.approval_id}",
    "calls": lambda _: "calls",
    "call": lambda demo: f"calls/{demo.call_id}",
    "definitions": lambda demo: f"definitions/{demo.connector_id}",
    "sessions": lambda _: "sessions",
    "session": lambda demo: f"sessions/{demo.session_id}",
    "usage": lambda _: "usage?by=model",
    "agents": lambda _: "agents",
    "agent": lambda demo: f"agents/{demo.agent_id}",
    "connectors": lambda _: "connectors",
    "connector": lambda demo: f"connectors/{demo.connector_id}",
    "explain": lambda demo: (
        f"explain?connector={demo.connector_id}&tool=create_issue"
        f"&agent={demo.agent_id}&other=100"
    ),
    "explain-all": lambda demo: (
        f"explain?connector={demo.connector_id}&tool=create_issue"
    ),
    "secrets": lambda _: "secrets",
    "secret": lambda _: "secrets/TRACKER_TOKEN",
    "prices": lambda _: "prices?provider=openai",
    "price": lambda _: "prices/openai/gpt-4o-mini",
    "audit": lambda _: "audit",
    "entry": lambda demo: f"audit/{demo.position}",
    "verify": lambda demo: f"verify?position={demo.position}",
    "users": lambda _: "users",
    "user": lambda demo: f"users/{demo.user_id}",
    "operation": lambda _: "operation",
    "find": lambda demo: f"find/{demo.connector_id}",
}
# What some address asks for is refused to everyone who signs in there, also to admin.
REFUSING: Final = {"secret", "find"}
