"""Proofs that the browser checks, against a checkpoint that the reviewer brings."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.integration.console.browser.answers import refuse
from tests.integration.console.browser.conftest import Counts, Visit
from tests.integration.console.browser.tree import Tree, encoded
from tests.integration.console.browser.visitor import Visitor
from tests.support.console.browser.service import DemoData

pytestmark = pytest.mark.thorough

MILLION = 1_000_000
CHECKPOINT = "Your checkpoint"
KEY = "Public key that you kept"
POSITION = "Position of an entry"
CHECKED = """
async proofs => {
  const {checkInclusion, checkConsistency, fromBase64} =
    await import("/console/app/merkle.js");
  const read = each => typeof each === "string" ? fromBase64(each)
    : Array.isArray(each) ? each.map(fromBase64) : each;
  return Promise.all(proofs.map(async proof => {
    const given = Object.fromEntries(
      Object.entries(proof).map(([name, value]) => [name, read(value)]));
    const check = "leaf" in given ? checkInclusion : checkConsistency;
    return (await check(given)).holds;
  }));
}
"""
WRONG = encoded(b"x" * 32)


def verify(
    visitor: Visitor, checkpoint: str, key: str = "", position: str = ""
) -> None:
    """Fill the form and send it, once the page itself needs nothing more."""
    visitor.page.get_by_label(CHECKPOINT).fill(checkpoint)
    visitor.page.get_by_label(KEY).fill(key)
    if position:
        visitor.page.get_by_label(POSITION).fill(position)
    visitor.requests.clear()
    visitor.page.get_by_role("button", name="Verify", exact=True).click()
    visitor.settled()


def visit_log(visit: Visit, tree: Tree) -> Visitor:
    """Open the page as somebody to whom another log's proofs are sent."""
    visitor = visit("ada")
    tree.answer_in(visitor.page)
    return visitor.open("verify")


def says(visitor: Visitor, text: str) -> None:
    visitor.shows(".verdict", text)


def asked(visitor: Visitor) -> list[str]:
    return [each.partition("?")[0] for each in visitor.requests]


@pytest.mark.parametrize(
    ("user", "content"),
    [("olga", "the entry says:"), ("ada", "only the entry's hash is proved")],
)
def test_the_log_is_verified_from_a_kept_checkpoint(
    visit: Visit, demo: DemoData, counts: Counts, user: str, content: str
) -> None:
    visitor = visit(user)
    note = demo.text("/api/audit/checkpoint")
    key = demo.call("GET", "/api/audit/checkpoint/key")["public_key"]
    visitor.open("verify")
    verify(visitor, note, key, "2")

    says(visitor, "Genuine")
    visitor.shows(".checks", "signed with the given key")
    visitor.shows(".checks", content)
    counts.check(visitor, f"verify, genuine, as {user}")


def test_the_record_of_an_entry_is_verified_from_its_page(
    visit: Visit, demo: DemoData
) -> None:
    note = demo.text("/api/audit/checkpoint")
    visitor = visit("olga").open("audit/3")
    visitor.page.get_by_role("link", name="Verify that this record").click()
    verify(visitor, note)

    says(visitor, "the entry at position 3 is in the signed log")
    visitor.shows(".checks", "the record that you looked")
    page = visitor.page
    page.get_by_text("hashes of this proof").last.click()
    expect(page.get_by_role("columnheader", name="Result").last).to_be_visible()


def test_a_line_of_an_export_is_verified(visit: Visit, demo: DemoData) -> None:
    note = demo.text("/api/audit/checkpoint")
    text = demo.text("/api/audit/export.jsonl?from_position=4&until_position=4")
    line, _end = text.splitlines()
    visitor = visit("olga").open("verify")
    visitor.page.get_by_text("or the entry as recorded").click()
    entry = visitor.page.get_by_label("Entry as recorded, as JSON")

    entry.fill(line)
    verify(visitor, note)
    says(visitor, "the entry at position 4 is in the signed log")

    entry.fill(line.replace('"version":', '"version":1'))
    verify(visitor, note)
    says(visitor, "Not genuine")


def test_a_checkpoint_is_taken_from_a_file(
    visit: Visit, demo: DemoData, tmp_path: Path
) -> None:
    note = demo.text("/api/audit/checkpoint")
    file = tmp_path / "kept"
    file.write_text(note + "\n" + note)
    visitor = visit("ada").open("verify")
    visitor.page.get_by_label("take it from a file").set_input_files(file)
    visitor.page.get_by_role("button", name="Verify", exact=True).click()

    says(visitor, "Genuine")


@pytest.mark.parametrize("size", [1_000, MILLION])
def test_nothing_but_two_proofs_is_asked_for_whatever_the_length(
    visit: Visit, size: int
) -> None:
    tree = Tree(size)
    visitor = visit_log(visit, tree)
    verify(visitor, tree.checkpoint(size * 2 // 3), tree.key, str(size // 2))

    says(visitor, "Genuine")
    assert asked(visitor) == [
        "/api/audit/proofs/consistency",
        "/api/audit/proofs/inclusion",
    ]


def test_another_log_than_the_checkpoints_is_not_genuine(
    visit: Visit, counts: Counts
) -> None:
    kept, shown = Tree(90), Tree(100, b"rewritten")
    visitor = visit_log(visit, shown)
    verify(visitor, kept.checkpoint(90), kept.key, "6")

    says(visitor, "Not genuine")
    checks = visitor.page.locator(".checks")
    expect(checks).to_contain_text("doesn't begin with those of your checkpoint")
    expect(checks).to_contain_text("it is not in your checkpoint")
    counts.check(visitor, "verify, not genuine")


def test_a_log_that_lost_its_end_is_not_genuine(visit: Visit, demo: DemoData) -> None:
    visitor = visit("ada", refusals_expected=True)
    longer = demo.text("/api/audit/checkpoint").split("\n")
    longer[1] = "999999999"
    visitor.open("verify")
    verify(visitor, "\n".join(longer))

    says(visitor, "Not genuine")
    visitor.shows(".checks", "shorter than your")


def test_a_changed_checkpoint_is_not_genuine(visit: Visit) -> None:
    tree = Tree(10)
    note = tree.checkpoint(10).replace("\n10\n", "\n9\n")
    visitor = visit_log(visit, tree)
    verify(visitor, note, tree.key)

    says(visitor, "Not genuine")
    visitor.shows(".checks", "not that of the given key")


def test_a_checkpoint_of_another_key_is_not_genuine(visit: Visit) -> None:
    tree = Tree(10)
    visitor = visit_log(visit, tree)
    verify(visitor, tree.checkpoint(10), Tree(1).key)

    says(visitor, "Not genuine")
    visitor.shows(".checks", "has not signed it")


def test_a_check_that_could_not_be_made_has_no_verdict(
    visit: Visit, demo: DemoData
) -> None:
    visitor = visit("ada", refusals_expected=True)
    path = "/api/audit/proofs/consistency"
    refuse(visitor.page, path, 503, "unavailable", "the database can't be reached")
    visitor.open("verify")
    verify(visitor, demo.text("/api/audit/checkpoint"))

    expect(visitor.page.get_by_role("alert")).to_contain_text("can't be reached")
    expect(visitor.page.locator(".verdict")).to_have_count(0)
    assert visitor.violations() == []


@pytest.mark.parametrize(
    ("checkpoint", "key", "named"),
    [
        ("not a checkpoint", "", "Checkpoint"),
        ("log\n1\nAAAA\n\n— log AAAA\n", "", "not a root hash"),
        (None, "not a key", "Public key"),
        (None, "log+00000000+AAAA", "Ed25519"),
    ],
)
def test_input_that_is_none_is_named(
    visit: Visit, checkpoint: str | None, key: str, named: str
) -> None:
    visitor = visit("ada").open("verify")
    verify(visitor, checkpoint or Tree(3).checkpoint(3), key)

    expect(visitor.page.get_by_role("alert")).to_contain_text(named)
    assert visitor.requests == []


def test_the_browser_accepts_every_proof_and_no_other(visit: Visit) -> None:
    """Compare with the proofs of the service, for all sizes up to 18."""
    visitor = visit("ada").open("verify")
    tree = Tree(18)
    proofs = [proof for size in range(1, 19) for proof in proofs_of(tree, size)]
    wrong = [each for proof in proofs for each in wrong_ones(proof)]

    assert set(visitor.page.evaluate(CHECKED, proofs)) == {True}
    assert set(visitor.page.evaluate(CHECKED, wrong)) == {False}


def proofs_of(tree: Tree, size: int) -> Iterator[dict[str, Any]]:
    for position in range(1, size + 1):
        answer = tree.inclusion(position, size)
        yield {
            "leaf": answer["leaf_hash"],
            "index": position - 1,
            "size": size,
            "path": answer["hashes"],
            "root": answer["root_hash"],
        }
    for first in range(1, size + 1):
        answer = tree.consistency(first, size)
        yield {
            "first": first,
            "second": size,
            "path": answer["hashes"],
            "firstRoot": answer["first_root"],
            "secondRoot": answer["second_root"],
        }


def wrong_ones(proof: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Change each part of a proof in turn."""
    yield {**proof, "path": [*proof["path"], WRONG]}
    if proof["path"]:
        yield {**proof, "path": proof["path"][1:]}
        yield {**proof, "path": [WRONG, *proof["path"][1:]]}
    for name in ("leaf", "root", "firstRoot", "secondRoot"):
        if name in proof:
            yield {**proof, name: WRONG}
    if "index" in proof:
        yield {**proof, "index": proof["index"] + 1}
