"""Every page of the console, with the address of one example."""

from collections.abc import Callable, Mapping
from typing import Final

from docs.generator.console_pages import listed_pages
from tests.support.console.browser.service import DemoData
from tests.support.project import ROOT

Address = Callable[[DemoData], str]

# Of pages that are of one thing, or show more with parameters.
ADDRESSES: Final[Mapping[str, Address]] = {
    "approvals": lambda _: "approvals?state=all",
    "approval": lambda demo: f"approvals/{demo.agent_id}/{demo.approval_id}",
    "call": lambda demo: f"calls/{demo.call_id}",
    "definitions": lambda demo: f"definitions/{demo.connector_id}",
    "session": lambda demo: f"sessions/{demo.session_id}",
    "usage": lambda _: "usage?by=model",
    "agent": lambda demo: f"agents/{demo.agent_id}",
    "connector": lambda demo: f"connectors/{demo.connector_id}",
    "explain": lambda demo: (
        f"explain?connector={demo.connector_id}&tool=create_issue"
        f"&agent={demo.agent_id}&other=100"
    ),
    "explain-all": lambda demo: (
        f"explain?connector={demo.connector_id}&tool=create_issue"
    ),
    "secret": lambda _: "secrets/TRACKER_TOKEN",
    "prices": lambda _: "prices?provider=openai",
    "price": lambda _: "prices/openai/gpt-4o-mini",
    "entry": lambda demo: f"audit/{demo.position}",
    "verify": lambda demo: f"verify?position={demo.position}",
    "user": lambda demo: f"users/{demo.user_id}",
    "find": lambda demo: f"find/{demo.connector_id}",
}


def without_parameters(path: str) -> Address:
    return lambda _: path


PAGES: Final[Mapping[str, Address]] = {
    page["module"]: without_parameters(page["path"]) for page in listed_pages(ROOT)
} | {**ADDRESSES}
# What some address asks for is refused to everyone who signs in there, also to admin.
REFUSING: Final = {"secret", "find"}
