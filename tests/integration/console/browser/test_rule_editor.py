"""The rule editor: drafts of any size, faults, and what others change meanwhile."""

from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import answer
from tests.integration.console.browser.conftest import Counts
from tests.integration.console.browser.drafts import Draft

RULES_MAX = 1000


def test_rules_are_found_changed_removed_and_added_by_the_keyboard(
    draft: Draft, counts: Counts
) -> None:
    visitor, page = draft.visitor, draft.visitor.page
    page.get_by_label("Find in these rules").fill("t")
    visitor.press("Enter")
    expect(draft.editor.locator("tbody tr")).to_have_count(4)
    page.get_by_label("Find in these rules").fill("two")
    visitor.shows("form.editor", "1 of 4 rules")
    visitor.tab_to("Edit rule 4", "button")
    visitor.press("Enter")
    visitor.tab_to("Stance", "select")
    visitor.press("d")
    counts.check(visitor, "agent, a rule being edited")
    visitor.tab_to("Done", "button")
    visitor.press("Enter")
    expect(draft.button("Edit rule 4")).to_be_focused()
    expect(draft.editor.locator("tbody tr")).to_contain_text("not saved")

    page.get_by_label("Find in these rules").fill("")
    draft.button("Edit rule 1").focus()
    visitor.press("Enter")
    visitor.tab_to("Remove rule 1", "button")
    visitor.press("Enter")
    expect(draft.button("Edit rule 1")).to_be_focused()
    visitor.tab_to("Add a rule", "button")
    visitor.press("Enter")
    expect(page.get_by_label("Connector", exact=True)).to_be_focused()
    visitor.tab_to("Tool pattern", "input")
    visitor.type("five")
    visitor.press("Enter")
    visitor.tab_to("Save these rules", "button")
    visitor.press("Enter")

    expect(draft.editor).to_have_count(0)
    expect(draft.button("Edit rules")).to_be_focused()
    assert draft.stances() == {
        "two": "deny",
        "three": "allow",
        "one": "allow",
        "five": "ask",
    }


def test_as_many_rules_as_there_may_be_are_a_table(draft: Draft) -> None:
    visitor = draft.visitor
    rules = [draft.rule(f"tool_{number:04}") for number in range(RULES_MAX)]
    answer(visitor.page, draft.path, {"rules": rules, "version": 9, "warnings": []})
    visitor.click("Close the editor")
    visitor.click("Refresh")
    visitor.settled()
    visitor.click("Edit rules")

    expect(draft.editor.locator("tbody tr")).to_have_count(RULES_MAX)
    expect(draft.button("Add a rule")).to_be_disabled()
    nodes = visitor.page.evaluate("document.querySelectorAll('form.editor *').length")
    assert nodes < 12 * RULES_MAX
    visitor.page.evaluate(
        "window.kept = [...document.querySelectorAll('form.editor tr')]"
    )
    visitor.edit_rule("tool_0500").get_by_label("Tool pattern").fill("other")
    # Only the row that is edited is another element.
    changed = visitor.page.evaluate(
        "[...document.querySelectorAll('form.editor tr')]"
        ".filter((row, index) => row !== kept[index]).length"
    )
    assert changed <= 1


@pytest.mark.parametrize("when", ["preview", "save", "refresh"])
def test_what_somebody_else_changed_is_shown_beside_the_draft_and_kept(
    draft: Draft, counts: Counts, when: str
) -> None:
    draft.change("one", "deny")
    draft.change("two", "ask")
    if when == "save":
        draft.button("Preview").click()
        expect(draft.button("Save these rules")).to_be_visible()
    rule = draft.rule
    draft.others_put(rule("one", "ask"), rule("two"), rule("three"), rule("new"))
    button = {"preview": "Preview", "save": "Save these rules", "refresh": "Refresh"}
    draft.button(button[when]).click()

    rows = draft.visitor.page.get_by_role("table", name="since you began")
    for row in (
        "one|✓ allow|? ask|✕ deny|both: yours would count",
        "two|✓ allow|✓ allow|? ask|in your draft",
        "four|✓ allow|no rule|✓ allow|meanwhile",
        "new|no rule|✓ allow|no rule|meanwhile",
    ):
        pattern, *cells = row.split("|")
        found = rows.get_by_role("row").filter(
            has=draft.visitor.page.get_by_text(pattern, exact=True)
        )
        expect(found.get_by_role("cell")).to_have_text(["Drafts", pattern, *cells])
    expect(draft.button("Save these rules")).to_have_count(0)
    counts.check(draft.visitor, "agent, rules changed meanwhile")
    draft.visitor.page.get_by_role("button", name="Put my changes on top").click()
    expect(draft.button("Preview")).to_be_focused()
    draft.button("Preview").click()
    draft.button("Save these rules").click()

    expect(draft.editor).to_have_count(0)
    assert draft.stances() == {
        "one": "deny",
        "two": "ask",
        "three": "allow",
        "new": "allow",
    }


def test_a_draft_is_dropped_for_what_somebody_else_made(draft: Draft) -> None:
    draft.change("one", "deny")
    draft.others_put(draft.rule("theirs"))
    draft.button("Preview").click()
    draft.button("Drop my draft").click()

    expect(draft.editor).to_have_count(0)
    draft.visitor.shows("main", "theirs")
    assert draft.stances() == {"theirs": "allow"}


def test_rules_that_are_saved_already_are_no_conflict(draft: Draft) -> None:
    draft.change("one", "deny")
    draft.button("Preview").click()
    expect(draft.button("Save these rules")).to_be_visible()
    rules = [draft.rule("one", "deny"), *map(draft.rule, ("two", "three", "four"))]
    draft.others_put(*rules)
    draft.button("Save these rules").click()

    draft.visitor.shows("main", "the rules are saved as in your draft")
    expect(draft.editor).to_have_count(0)


def test_an_own_change_whose_answer_was_lost_is_no_conflict(draft: Draft) -> None:
    visitor = draft.visitor
    draft.change("one", "deny")
    draft.save_without_an_answer()
    draft.change("two", "deny")
    draft.button("Preview").click()

    visitor.shows("form.editor", "What you saved before is saved")
    expect(visitor.page.get_by_role("alert")).to_have_count(0)
    draft.button("Preview").click()
    draft.button("Save these rules").click()
    expect(draft.editor).to_have_count(0)
    assert draft.stances() == {
        "one": "deny",
        "two": "deny",
        "three": "allow",
        "four": "allow",
    }
    visitor.errors.clear()


def test_a_failed_refresh_keeps_the_draft(draft: Draft) -> None:
    draft.change("one", "deny")
    path = draft.path
    data: dict[str, Any] = {"code": "internal_error", "errors": [], "request_id": "r"}
    answer(draft.visitor.page, path, data, status=500, text="it failed")
    draft.button("Refresh").click()

    expect(draft.visitor.page.get_by_role("alert").first).to_contain_text("it failed")
    expect(draft.editor.locator("tbody tr")).to_have_count(4)
    expect(draft.editor.get_by_text("not saved", exact=True)).to_have_count(1)


def test_faults_are_at_their_fields_counted_as_on_the_page(
    draft: Draft, counts: Counts
) -> None:
    visitor = draft.visitor
    # Sorted by pattern: the second and the third.
    for pattern, wrong in (("one", "wrong["), ("three", "")):
        rule = visitor.edit_rule(pattern)
        rule.get_by_label("Tool pattern").fill(wrong)
        rule.get_by_role("button", name="Done").click()
    draft.button("Preview").click()

    field = visitor.page.get_by_label("Tool pattern")
    expect(field).to_be_focused()
    expect(field).to_have_value("wrong[")
    expect(field).to_have_attribute("aria-invalid", "true")
    expect(field).to_have_accessible_description(
        "✕ must have only characters of A-Z a-z 0-9 _ . - / : * ?"
    )
    alert = visitor.page.get_by_role("alert")
    expect(alert).to_contain_text("Rule 3, Tool pattern")
    expect(alert).not_to_contain_text("rules[")
    expect(alert).not_to_contain_text("only characters")
    row = draft.editor.locator("tbody tr").nth(2)
    expect(row).to_contain_text("Tool pattern: must have at least")
    counts.check(visitor, "agent, faults in rules")
    field.press("End")
    visitor.press("Backspace")
    expect(field).to_be_focused()
    expect(field).not_to_have_attribute("aria-invalid", "true")

    # They are counted anew as the draft changes.
    visitor.edit_rule("four")
    draft.button("Remove rule 1").click()
    expect(alert).to_contain_text("Rule 2, Tool pattern")
