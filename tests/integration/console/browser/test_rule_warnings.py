"""A rule that matches no tool is told before it is saved, with what was meant."""

from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Counts, Visit
from tests.support.console.browser.service import DemoData


def test_a_suggestion_is_shown_taken_and_saved(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("ben").open(f"agents/{demo.agent_id}")
    path = f"/api/mcp/agents/{demo.agent_id}/tools"
    before = demo.call("GET", path)["rules"]
    visitor.click("Edit rules")
    pattern = visitor.edit_rule("delete_*").get_by_label("Tool pattern")
    pattern.fill("mcp__issue-tracker__delete_*")
    visitor.click("Preview")

    preview = visitor.page.get_by_role("region", name="Preview")
    expect(preview).to_contain_text("matches none of the connector's known tools")
    expect(preview).to_contain_text("it denies nothing")
    counts.check(visitor, "agent, a rule that matches nothing")

    visitor.click("Use delete_*")
    expect(pattern).to_have_value("delete_*")
    pattern.fill("issue-tracker_delete_issue")
    visitor.click("Preview")
    visitor.click("Save these rules")

    warning = visitor.page.locator("p.warning").filter(has_text="delete_issue")
    expect(warning).to_contain_text("'delete_issue' was probably meant")
    expect(visitor.page.get_by_role("button", name="Use delete_issue")).to_have_count(0)
    demo.call("PUT", path, {"rules": before})


def test_an_alias_is_explained_as_its_tool(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    alias = "issue-tracker_delete_issue"
    address = f"explain?connector={demo.connector_id}&tool={alias}"

    for page, more in (("explain-all", ""), ("explain", f"&agent={demo.agent_id}")):
        visitor = visit("ben").open(address + more)
        expect(visitor.page.locator("main")).to_contain_text(
            f"{alias} is an alias: agents call the tool delete_issue by it"
        )
        counts.check(visitor, f"{page}, an alias")


def test_removing_rules_warns_of_names_that_change(
    visit: Visit, demo: DemoData
) -> None:
    def make(path: str, **body: str) -> str:
        return str(demo.call("POST", path, body, user="ada")["id"])

    agent = make("/api/catalog/agents", name="Filler")
    address = "https://twins.example/mcp"
    twins = [make("/api/mcp/connectors", name="Twins", url=address) for _ in range(2)]
    for each in twins:
        grant = f"/api/mcp/connectors/{each}/grants/agents/{agent}"
        demo.call("PUT", grant, user="ada")
    path = f"/api/mcp/agents/{agent}/tools"
    rule = {"tool_pattern": "*", "stance": "allow"}
    rules = [{**rule, "connector_id": each} for each in twins]
    demo.call("PUT", path, {"rules": rules}, user="ada")
    visitor = visit("ada").open(f"agents/{agent}")
    removes = visitor.page.get_by_role("button", name="Remove these rules")
    expect(removes).to_have_count(2)
    # Two tables of connectors that have one name.
    assert visitor.violations() == []

    removes.first.click()
    visitor.page.get_by_role("dialog").get_by_role(
        "button", name="Remove these rules"
    ).click()

    expect(visitor.page.locator("p.warning")).to_contain_text(
        "the agent sees its tools as 'twins_...' instead of 'twins-"
    )
    assert visitor.violations() == []
    for each in twins:
        demo.remove_later(f"/api/mcp/connectors/{each}", user="ada")
    demo.remove_later(f"/api/catalog/agents/{agent}", user="ada")
