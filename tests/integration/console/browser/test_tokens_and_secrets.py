"""Tokens, shown once, and values of secrets, shown never."""

import re
from pathlib import Path
from typing import Final

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.conftest import Counts, Visit
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

TOKEN: Final = re.compile(r"art_\w{36}")


def test_a_token_is_shown_once_and_ends_when_it_should(
    visit: Visit, demo: DemoData, counts: Counts
) -> None:
    visitor = visit("ada")
    page = visitor.page
    visitor.open(f"users/{demo.user_id}?tz=Asia/Tokyo")
    page.get_by_role("button", name="Issue a token").click()
    page.get_by_label("Label").fill("shown once")
    page.get_by_label("Valid until").fill("2100-01-01 09:00")
    visitor.press("Enter")

    expect(page.locator("main")).to_contain_text(TOKEN)
    counts.check(visitor, "user, token shown")
    page.reload()
    visitor.settled()
    expect(page.locator("main tbody")).to_contain_text("shown once")
    expect(page.locator("main")).not_to_contain_text(TOKEN)
    tokens = demo.call("GET", f"/api/users/{demo.user_id}/tokens", user="ada")["tokens"]
    assert tokens[0]["expires_at"] == "2100-01-01T00:00:00Z"


@pytest.mark.parametrize("end", ["next year", "2100"])
def test_a_slip_in_the_end_issues_nothing(
    visit: Visit, demo: DemoData, end: str
) -> None:
    path = f"/api/users/{demo.user_id}/tokens"
    before = demo.call("GET", path)
    visitor = visit("admin").open(f"users/{demo.user_id}")
    visitor.click("Issue a token")
    visitor.page.get_by_label("Label").fill("by a slip")
    visitor.page.get_by_label("Valid until").fill(end)
    visitor.press("Enter")

    expect(visitor.page.get_by_role("alert")).to_contain_text("is no time")
    assert demo.call("GET", path) == before


def test_tokens_of_others_are_not_offered_to_auditors(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("olga").open(f"users/{demo.user_id}")

    expect(visitor.page.locator(".not-offered").first).to_contain_text("superusers")
    for action in ("Issue a token", "Revoke", "Rename", "Disable", "Erase"):
        expect(visitor.page.get_by_role("button", name=action)).to_have_count(0)


def test_a_value_of_several_lines_comes_from_a_file(
    visit: Visit, demo: DemoData, tmp_path: Path
) -> None:
    value = "-----BEGIN KEY-----\nfirst line\nsecond line\n"
    file = tmp_path / "key.pem"
    file.write_text(value)
    visitor = visit("ben")
    page = visitor.page
    visitor.open("secrets")
    page.get_by_role("button", name="Create a secret").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name", exact=True).fill("SIGNING_KEY")
    dialog.get_by_label("from a file").set_input_files(file)
    expect(dialog.get_by_label("Value", exact=True)).not_to_have_value("")
    assert visitor.violations() == []
    dialog.get_by_role("button", name="Create", exact=True).click()
    expect(dialog).to_have_count(0)

    found = demo.call("GET", "/api/secrets/SIGNING_KEY/value", user="ben")
    assert found["value"] == value
    assert "second line" not in page.content()


def test_a_key_is_destroyed_after_it_was_said_what_is_lost(
    visit: Visit, demo: DemoData
) -> None:
    dora = demo.call("POST", "/api/users", {"name": "key-owner", "roles": []})
    path = f"/api/users/{dora['id']}"
    token = demo.call("POST", f"{path}/tokens", {"label": "browser"})["token"]
    visitor = visit(None)
    visitor.sign_in(token)
    visitor.open(f"users/{dora['id']}")
    visitor.click("Destroy the key")
    dialog = visitor.page.get_by_role("dialog")
    for lost in ("your name", "your secrets", "texts of your sessions"):
        expect(dialog).to_contain_text(lost)
    assert visitor.violations() == []
    dialog.get_by_role("button", name="Destroy it for good").click()

    visitor.shows("main", "It is destroyed")
    assert demo.call("GET", path)["name"] is None
