"""A draft of rules: only what was previewed is saved, and what changed is told."""

import re
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import Held, answer
from tests.integration.console.browser.drafts import Draft

pytestmark = pytest.mark.thorough

RULE = {"connector_id": "one", "tool_pattern": "read", "stance": "allow"}
OTHER = RULE | {"connector_id": "two"}
EMPTY = RULE | {"tool_pattern": ""}
ASKED = EMPTY | {"stance": "ask"}


def merged(draft: Draft, function: str, *given: Any) -> Any:
    """Call a function of the script that merges rules."""
    return draft.visitor.page.evaluate(
        "([name, given]) => import('/console/app/rule_merge.js')"
        ".then((script) => script[name](...given))",
        [function, given],
    )


@pytest.mark.parametrize("what", ["preview", "save"])
def test_nothing_is_changed_while_an_answer_is_awaited(draft: Draft, what: str) -> None:
    page = draft.visitor.page
    field = draft.visitor.edit_rule("one").get_by_label("Tool pattern")
    field.fill("1")
    if what == "save":
        draft.button("Preview").click()
        expect(draft.button("Save these rules")).to_be_visible()
    held = Held(page, draft.path if what == "save" else f"{draft.path}/preview")
    field.focus()
    if what == "save":
        draft.button("Save these rules").click()
        expect(draft.button("Saving \u2026")).to_be_visible()
    else:
        draft.visitor.press("Enter")
        expect(draft.button("Working \u2026")).to_be_visible()
    field.focus()
    draft.visitor.type("2")
    expect(field).to_have_value("1")
    held.release()

    if what == "preview":
        expect(field).to_be_focused()
        expect(draft.button("Save these rules")).to_be_visible()
        draft.visitor.type("2")
        expect(field).to_have_value("12")
        expect(draft.button("Save these rules")).to_have_count(0)
    else:
        expect(draft.editor).to_have_count(0)
        assert draft.stances().keys() == {"1", "two", "three", "four"}


def test_an_older_answer_is_no_change(draft: Draft) -> None:
    draft.change("one", "deny")
    rules = [draft.rule("older")]
    older = {"rules": rules, "version": 0, "warnings": []}
    answer(draft.visitor.page, draft.path, older)
    draft.button("Refresh").click()

    draft.visitor.shows("main", "older")
    expect(draft.visitor.page.get_by_role("alert")).to_have_count(0)
    expect(draft.editor.get_by_text("not saved", exact=True)).to_have_count(1)


def test_a_connector_that_is_not_among_the_choices_is_shown_by_its_id(
    draft: Draft,
) -> None:
    hidden = draft.rule("hidden") | {"connector_id": str(UUID(int=7))}
    now = {"rules": [hidden], "version": 99, "warnings": []}
    answer(draft.visitor.page, draft.path, now)
    draft.button("Refresh").click()
    rule = draft.visitor.edit_rule("hidden")

    field = rule.get_by_label("Connector")
    expect(field).to_have_value(hidden["connector_id"])
    expect(field.locator("option:checked")).to_have_text("00000000\u2026")


def test_what_was_saved_without_an_answer_is_not_said_of_a_new_draft(
    draft: Draft,
) -> None:
    visitor = draft.visitor
    draft.change("one", "deny")
    draft.save_without_an_answer()
    draft.change("two", "deny")
    draft.button("Preview").click()
    visitor.shows("form.editor", "What you saved before is saved")
    draft.others_put(draft.rule("theirs"))
    draft.button("Preview").click()
    visitor.page.get_by_role("button", name=re.compile("Put my changes")).click()

    expect(draft.editor).not_to_contain_text("What you saved before")
    visitor.errors.clear()


def test_a_batch_leaves_the_rules_of_connectors_that_it_does_not_name(
    draft: Draft,
) -> None:
    assert merged(draft, "afterSaving", [RULE], [EMPTY, OTHER]) == [RULE, OTHER]
    assert merged(draft, "afterSaving", [], [RULE]) == []


def test_two_new_rules_without_a_pattern_are_both_kept(draft: Draft) -> None:
    drafted = [RULE, EMPTY, ASKED]
    found = merged(draft, "onTop", [RULE], [RULE, OTHER], drafted)
    assert len(found) == 4
    assert all(rule in found for rule in (RULE, OTHER, EMPTY, ASKED))
