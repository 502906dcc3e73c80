"""An agent with rules, and the editor of a draft of them."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import Locator, Route, expect

from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData


@dataclass
class Draft:
    """An agent with rules for the patterns one to four, and its editor."""

    visitor: Visitor
    demo: DemoData
    agent: str
    connector: str

    @property
    def path(self) -> str:
        return f"/api/mcp/agents/{self.agent}/tools"

    @property
    def editor(self) -> Locator:
        return self.visitor.page.get_by_role("form", name="Rules", exact=True)

    def button(self, name: str) -> Locator:
        return self.visitor.page.get_by_role("button", name=name, exact=True)

    def rule(self, pattern: str, stance: str = "allow") -> dict[str, str]:
        return {
            "connector_id": self.connector,
            "tool_pattern": pattern,
            "stance": stance,
        }

    def others_put(self, *rules: dict[str, str]) -> None:
        self.demo.call("PUT", self.path, {"rules": rules})

    def stances(self) -> dict[str, str]:
        rules = self.demo.call("GET", self.path)["rules"]
        return {each["tool_pattern"]: each["stance"] for each in rules}

    def change(self, pattern: str, stance: str) -> None:
        rule = self.visitor.edit_rule(pattern)
        rule.get_by_label("Stance").select_option(stance)
        rule.get_by_role("button", name="Done").click()

    def save_without_an_answer(self) -> None:
        """Preview the draft and save it; its answer is lost on the way."""

        def lose(route: Route) -> None:
            if route.request.method != "PUT":
                route.fallback()
                return
            body: Any = route.request.post_data_json
            self.others_put(*body["rules"])
            route.abort()

        page = self.visitor.page
        self.button("Preview").click()
        page.route(f"**{self.path}", lose)
        self.button("Save these rules").click()
        expect(page.get_by_role("alert")).to_contain_text("can't be reached")
        page.unroute(f"**{self.path}")


@contextmanager
def opened_draft(visitor: Visitor, demo: DemoData) -> Iterator[Draft]:
    """Open the editor for a new agent and connector of ada, who is the visitor."""

    def make(path: str, **body: str) -> str:
        return str(demo.call("POST", path, body, user="ada")["id"])

    url = "https://drafts.example/mcp"
    connector = make("/api/mcp/connectors", name="Drafts", url=url)
    agent = make("/api/catalog/agents", name="Drafted")
    demo.call(
        "PUT", f"/api/mcp/connectors/{connector}/grants/agents/{agent}", user="ada"
    )
    draft = Draft(visitor, demo, agent, connector)
    draft.others_put(*map(draft.rule, ("one", "two", "three", "four")))
    draft.visitor.open(f"agents/{agent}").click("Edit rules")
    yield draft
    demo.remove_later(f"/api/mcp/connectors/{connector}", user="ada")
    demo.remove_later(f"/api/catalog/agents/{agent}", user="ada")
